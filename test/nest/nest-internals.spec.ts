import { Body, Controller, HttpCode, Post, Query, RequestMethod, Version } from '@nestjs/common';
import {
  HOST_METADATA,
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  PATH_METADATA,
  ROUTE_ARGS_METADATA,
  RouteParamtypes,
  VERSION_METADATA,
} from '../../src/http/pipeline/nest-internals';

@Controller({ path: 'halls', host: 'example.com', version: '1' })
class HallsController {
  @Post('search')
  @HttpCode(202)
  @Version('2')
  search(@Query('limit') limit: string, @Body() body: object): object {
    return { limit, body };
  }
}

const handler: unknown = Object.getOwnPropertyDescriptor(HallsController.prototype, 'search')?.value;

it('finds the path of a controller and the status of a handler where Nest stores them', () => {
  expect(Reflect.getMetadata(PATH_METADATA, HallsController)).toBe('halls');
  expect(Reflect.getMetadata(HTTP_CODE_METADATA, handler as object)).toBe(202);
});

it('finds the method, the host and the version of a route where Nest stores them', () => {
  expect(Reflect.getMetadata(METHOD_METADATA, handler as object)).toBe(RequestMethod.POST);
  expect(Reflect.getMetadata(HOST_METADATA, HallsController)).toBe('example.com');
  expect(Reflect.getMetadata(VERSION_METADATA, HallsController)).toBe('1');
  expect(Reflect.getMetadata(VERSION_METADATA, handler as object)).toBe('2');
});

it('finds the arguments of a handler under the type and index that Nest gives them', () => {
  expect(Reflect.getMetadata(ROUTE_ARGS_METADATA, HallsController, 'search')).toEqual({
    [`${RouteParamtypes.QUERY}:0`]: expect.objectContaining({ index: 0, data: 'limit' }) as object,
    [`${RouteParamtypes.BODY}:1`]: expect.objectContaining({ index: 1, data: undefined }) as object,
  });
});
