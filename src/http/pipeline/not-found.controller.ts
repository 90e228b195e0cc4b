import { All, Controller, Module } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Scopes } from './scopes';
import { UnknownPath } from '../../errors/exceptions';

/** Unknown paths under the prefix. Being a route, it has the guard and the token bucket in front of it like any other. */
@ApiExcludeController()
@Controller()
export class NotFoundController {
  @All('{/{*path}}')
  @Scopes('read', 'capture')
  notFound(): never {
    throw new UnknownPath();
  }
}

@Module({ controllers: [NotFoundController] })
export class NotFoundModule {}
