import { All, Controller, Get, Header, MethodNotAllowedException, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../access/api-key.guard';
import { PagesService } from './pages.service';

/** The paths below, all of them outside the API's prefix. */
export const PAGES = ['/', 'docs', 'openapi.json', 'openapi.yaml', 'assets/:name'];

const policy = (...directives: string[]): Record<string, string> => ({
  'Content-Security-Policy': [
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...directives,
  ].join(';'),
});
const HOME = policy("style-src 'self'", "img-src 'self'");
const DOCS = policy("script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:");

/** A host that is safe in a page and in a shell command: a name or an address, and a port. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i;

/** This server's origin as the reader's browser knows it, or as a trusted proxy says. HTTP/1.0 may have no host. */
const originOf = ({ host, secure }: { host?: string; secure: boolean }): string =>
  `${secure ? 'https' : 'http'}://${HOST.test(host ?? '') ? host : 'localhost'}`;

/** The home page, the API reference, and the OpenAPI document as files. No key needed. */
@ApiExcludeController()
@Public()
@Controller()
export class PagesController {
  constructor(private readonly pages: PagesService) {}

  @Get()
  async home(@Req() request: Request, @Res() response: Response) {
    return (await this.pages.home(originOf(request))).send(request, response, HOME);
  }

  @Get('docs')
  async docs(@Req() request: Request, @Res() response: Response) {
    return (await this.pages.docs()).send(request, response, DOCS);
  }

  @Get(['openapi.json', 'openapi.yaml'])
  async description(@Req() request: Request, @Res() response: Response) {
    return (await this.pages.description(request.path.slice(1))).send(request, response);
  }

  @Get('assets/:name')
  async asset(@Param('name') name: string, @Req() request: Request, @Res() response: Response) {
    return (await this.pages.asset(name)).send(request, response);
  }

  @All(PAGES)
  @Header('Allow', 'GET, HEAD')
  readOnly(): never {
    throw new MethodNotAllowedException();
  }
}
