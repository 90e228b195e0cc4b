import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';

/** Metadata of what needs no API key. */
export const PUBLIC = Symbol('public');

/** Where the OpenAPI document finds that a handler needs no API key. */
export const PUBLIC_EXTENSION = 'x-lanyard-public';

/**
 * A route that needs no API key and takes no token. On a gateway, on a resolver, or on the module that has them or imports
 * `GraphQLModule`, it says that you check by yourself who calls: Lanyard checks requests of its HTTP routes only.
 */
export const Public = (): ClassDecorator & MethodDecorator =>
  applyDecorators(SetMetadata(PUBLIC, true), ApiExtension(PUBLIC_EXTENSION, true));
