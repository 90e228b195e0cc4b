/**
 * Nest's own metadata, which its decorators write and this server reads: how a handler takes its arguments, and the path
 * and status of a route. Nest does not promise these names to applications. This is the only file that imports them, so
 * that a release of Nest that moves them breaks one file, and test/nest/nest-internals.spec.ts.
 */
export {
  HOST_METADATA,
  HTTP_CODE_METADATA,
  INTERCEPTORS_METADATA,
  METHOD_METADATA,
  MODULE_PATH,
  PATH_METADATA,
  REDIRECT_METADATA,
  RENDER_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  ROUTE_ARGS_METADATA,
  RouteParamtypes,
  SSE_METADATA,
  VERSION_METADATA,
} from '@nestjs/common/internal';

/** Where `@ApiOperation()` keeps what it says of a handler. */
export const API_OPERATION_METADATA = 'swagger/apiOperation';
