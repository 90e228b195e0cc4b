import { All, Controller, Get, Header, MethodNotAllowedException, Param, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../access/api-key.guard';
import { PagesService } from './pages.service';

/** The paths below, all of them outside the API's prefix. */
export const PAGES = ['/', 'docs', 'openapi.json', 'openapi.yaml', 'assets/:name'];

/** The answer may be kept, and is asked for again each time: 304 as long as it is the same. */
const ASK_AGAIN = { 'Cache-Control': 'no-cache' };
const KEEP = { 'Cache-Control': 'public, max-age=31536000, immutable' };

const policy = (...directives: string[]): Record<string, string> => ({
  ...ASK_AGAIN,
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

/** A host that can stand in a page and in a shell command as it is: a name or an address, and a port. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i;

/** Where the reader's browser found this server; behind a trusted proxy, as the proxy says. HTTP/1.0 may have no host. */
const originOf = ({ host, secure }: { host?: string; secure: boolean }): string =>
  `${secure ? 'https' : 'http'}://${HOST.test(host ?? '') ? host : 'localhost'}`;

/** For people: a front page, the reference to try out, and the description as files. Without a key. */
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

  @Get('openapi.json')
  async json(@Req() request: Request, @Res() response: Response) {
    return (await this.pages.json()).send(request, response, ASK_AGAIN);
  }

  @Get('openapi.yaml')
  async yaml(@Req() request: Request, @Res() response: Response) {
    return (await this.pages.yaml()).send(request, response, ASK_AGAIN);
  }

  /** While processes of two releases serve one site, a version may be asked of the other: what it gives is not kept. */
  @Get('assets/:name')
  async asset(
    @Param('name') name: string,
    @Query('v') version: unknown,
    @Req() request: Request,
    @Res() response: Response,
  ) {
    const asset = await this.pages.asset(name);
    return asset.send(request, response, version === asset.version ? KEEP : ASK_AGAIN);
  }

  @All(PAGES)
  @Header('Allow', 'GET, HEAD')
  readOnly(): never {
    throw new MethodNotAllowedException();
  }
}
