import { All, Controller, Module, NotFoundException } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';

/** Unknown paths under the prefix. Being a route, it has the guard and the token bucket in front of it like any other. */
@ApiExcludeController()
@Controller()
export class NotFoundController {
  @All('{/{*path}}')
  notFound(): never {
    throw new NotFoundException();
  }
}

@Module({ controllers: [NotFoundController] })
export class NotFoundModule {}
