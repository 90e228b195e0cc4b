import { Body, Controller, HttpCode, Post, Query } from '@nestjs/common';
import { HTTP_CODE_METADATA, PATH_METADATA, ROUTE_ARGS_METADATA, RouteParamtypes } from '../../src/api/nest-internals';

@Controller('halls')
class HallsController {
  @Post('search')
  @HttpCode(202)
  search(@Query('limit') limit: string, @Body() body: object): object {
    return { limit, body };
  }
}

const handler: unknown = Object.getOwnPropertyDescriptor(HallsController.prototype, 'search')?.value;

it('finds the path of a controller and the status of a handler where Nest stores them', () => {
  expect(Reflect.getMetadata(PATH_METADATA, HallsController)).toBe('halls');
  expect(Reflect.getMetadata(HTTP_CODE_METADATA, handler as object)).toBe(202);
});

it('finds the arguments of a handler under the type and index that Nest gives them', () => {
  expect(Reflect.getMetadata(ROUTE_ARGS_METADATA, HallsController, 'search')).toEqual({
    [`${RouteParamtypes.QUERY}:0`]: expect.objectContaining({ index: 0, data: 'limit' }) as object,
    [`${RouteParamtypes.BODY}:1`]: expect.objectContaining({ index: 1, data: undefined }) as object,
  });
});
