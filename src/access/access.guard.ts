import {
  CanActivate,
  ExecutionContext,
  ForbiddenException,
  Injectable,
  SetMetadata,
  UnauthorizedException,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { AccessService } from './access.service';
import { AuthenticationFailures } from './authentication-failures';

const PUBLIC = Symbol('public');

/** A route outside the API that needs no key: health, documentation. */
export const Public = () => SetMetadata(PUBLIC, true);

/** Lets a request in by its `x-api-key`: 401 without one, 403 with one that is not valid, 429 after too many such. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly access: AccessService,
    private readonly failures: AuthenticationFailures,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (this.reflector.getAllAndOverride<boolean>(PUBLIC, [context.getHandler(), context.getClass()])) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    // Node joins a header that was sent twice with a comma, which no key holds.
    const key = request.headers['x-api-key'];
    request.caller = typeof key === 'string' ? this.access.rememberedCallerOf(key) : undefined;
    return request.caller ? true : this.ask(request, http.getResponse<Response>(), key);
  }

  private async ask(request: Request, response: Response, key: unknown): Promise<true> {
    const missing = typeof key !== 'string' || key.trim() === '';
    if (!missing) {
      request.caller = await this.access.callerOf(key);
      if (request.caller) return true;
    }
    await this.failures.count(request.ip ?? '', response);
    throw missing ? new UnauthorizedException() : new ForbiddenException();
  }
}
