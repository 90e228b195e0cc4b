import { createHash } from 'node:crypto';
import {
  Body,
  Controller,
  DefaultValuePipe,
  Get,
  Headers,
  Ip,
  Module,
  Param,
  ParseArrayPipe,
  ParseBoolPipe,
  ParseEnumPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  type PipeTransform,
  Post,
  Query,
  RawBody,
  Req,
  UploadedFile,
  UploadedFiles,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { FileInterceptor, FilesInterceptor } from '@nestjs/platform-express';
import { IsInt, IsNumberString, IsOptional, IsString, Max, MinLength } from 'class-validator';
import type { Request } from 'express';
import { type PlainServer, startWithModules } from '../support/plain-modules';

enum Color {
  Black = 'black',
  White = 'white',
}

class CreateCatDto {
  @IsString() @MinLength(2, { message: 'A name has at least $constraint1 letters' }) name: string;
  @IsOptional() @IsInt() @Max(30, { message: 'No cat is older than 30' }) age?: number;
}

/** The first class of Nest's documentation, without a decorator. */
class Undecorated {
  name: string;
  age: number;
}

class FindOneParams {
  @IsNumberString() id: string;
}

class FindQuery {
  @IsOptional() @IsInt() age?: number;
}

const OWN_PIPE = new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true });

/** The custom pipe of Nest's documentation. */
class TrimPipe implements PipeTransform<{ name: string }> {
  transform(value: { name: string }) {
    return { ...value, name: value.name.trim() };
  }
}

@Controller('cats')
class CatsController {
  @Post('bulk')
  createBulk(@Body(new ParseArrayPipe({ items: CreateCatDto })) cats: CreateCatDto[]) {
    return cats.map((cat) => [cat instanceof CreateCatDto, cat.name]);
  }

  @Post('names')
  names(@Body() names: string[]) {
    return names.length;
  }

  @Post('unknown')
  unknown(@Body() body: unknown) {
    return body;
  }

  @Post('one')
  one(@Body() cat: CreateCatDto) {
    return cat;
  }

  @Post('undecorated')
  undecorated(@Body() cat: Undecorated) {
    return cat;
  }

  @Post('property')
  property(@Body('name') name: string, @Body('age', ParseIntPipe) age: number) {
    return { name, age };
  }

  @Post('own-pipe')
  ownPipe(@Body(OWN_PIPE) cat: CreateCatDto) {
    return [cat instanceof CreateCatDto, cat];
  }

  @Post('trim')
  @UsePipes(TrimPipe)
  trim(@Body() cat: Undecorated) {
    return cat;
  }

  @Get('query')
  query(@Query() query: FindQuery) {
    return query;
  }

  @Post('request')
  request(@Req() request: Request, @Headers('x-cat') cat: string, @Ip() ip: string) {
    return { body: request.body as unknown, cat, hasIp: ip.length > 0, organizationId: request.caller?.organizationId };
  }

  @Post('raw')
  raw(@RawBody() raw: Buffer) {
    return createHash('sha256').update(raw).digest('hex');
  }

  @Get()
  find(
    @Query('min', new DefaultValuePipe(0), ParseIntPipe) min: number,
    @Query('indoor', new DefaultValuePipe(false), ParseBoolPipe) indoor: boolean,
    @Query('color', new ParseEnumPipe(Color, { optional: true })) color?: Color,
    @Query('ids', new ParseArrayPipe({ items: Number, separator: ',', optional: true })) ids?: number[],
  ) {
    return { min, indoor, color, ids };
  }

  @Get('declared')
  declared(@Query('age') age: number, @Query('indoor') indoor: boolean, @Query('breed') breed: string) {
    return { age, indoor, breed };
  }

  @Get('by-uuid/:id')
  byUuid(@Param('id', ParseUUIDPipe) id: string) {
    return id;
  }

  @Get('by-params/:id')
  byParams(@Param() params: FindOneParams) {
    return params.id;
  }

  @Get('by-number/:id')
  byNumber(@Param('id', ParseIntPipe) id: number) {
    return id;
  }

  @Post('upload')
  @UseInterceptors(FileInterceptor('file'))
  upload(@UploadedFile() file: { originalname: string; buffer: Buffer }, @Body() body: CreateCatDto) {
    return { name: file.originalname, text: file.buffer.toString(), body };
  }

  @Post('uploads')
  @UseInterceptors(FilesInterceptor('files', 2, { limits: { fileSize: 2 << 20 } }))
  uploads(@UploadedFiles() files: { size: number }[]) {
    return files.map(({ size }) => size);
  }
}

@Module({ controllers: [CatsController] })
class CatsModule {}

describe('a request to a plain module', () => {
  let server: PlainServer;
  beforeAll(async () => void (server = await startWithModules([CatsModule])));

  const post = (path: string, body?: unknown, headers?: Record<string, string>) =>
    server.send('POST', `/cats/${path}`, { body, headers });
  const results = async (path: string, body?: unknown) => {
    const { status, body: response } = await post(path, body);
    expect([status, response?.status]).toEqual([200, 200]);
    return response?.results;
  };
  const get = async (path: string) => (await server.send('GET', `/cats${path}`)).body;

  it('may have an array as its body, whose entries ParseArrayPipe checks', async () => {
    expect(await results('bulk', [{ name: 'Tom' }, { name: 'Kitty' }])).toEqual([
      [true, 'Tom'],
      [true, 'Kitty'],
    ]);
    expect(await results('names', ['Tom', 'Kitty'])).toBe(2);
    expect(await results('unknown', [1, { a: 2 }])).toEqual([1, { a: 2 }]);
    expect(await results('unknown', { a: 2 })).toEqual({ a: 2 });
    const invalid = await post('bulk', [{ name: 'Tom' }, { name: 'K' }]);
    expect(invalid.body).toEqual({ status: 400, error: 'A name has at least 2 letters' });
  });

  it.each([
    ['an object where the handler takes an array', 'names', { a: 1 }],
    ['an array where it takes a class', 'one', [{ name: 'Tom' }]],
    ['an array where it takes properties', 'property', ['Tom']],
    ['a text', 'names', '"Tom"'],
    ['null', 'unknown', 'null'],
  ])('is 400 with %s', async (_, path, body) => {
    const { body: response, headers } = await post(path, body);
    expect(response).toEqual({ status: 400, error: 'Bad Request' });
    expect(headers.get('lanyard-fault')).toBe('body');
  });

  it('has the whole body where the class has no decorators, as in the first example of Nest', async () => {
    expect(await results('undecorated', { name: 'Tom', age: 3 })).toEqual({ name: 'Tom', age: 3 });
    expect(await results('trim', { name: ' Tom ', age: 3 })).toEqual({ name: 'Tom', age: 3 });
    expect(await results('property', { name: 'Tom', age: 3 })).toEqual({ name: 'Tom', age: 3 });
  });

  it('has what the class does not declare left out before a pipe of the handler runs', async () => {
    const cat = { name: 'Tom', owner: 'Jerry' };
    expect(await results('one', cat)).toEqual({ name: 'Tom' });
    expect(await results('own-pipe', cat)).toEqual([true, { name: 'Tom' }]);
  });

  it('is rejected with the field and the reason, whatever the message of the validator', async () => {
    const { body, headers } = await post('one', { name: 'Tom', age: 31 });
    expect(body).toEqual({ status: 400, error: "Missing or invalid 'age'" });
    expect([headers.get('lanyard-fault'), headers.get('lanyard-fault-reason')]).toEqual(['body age', 'range']);
    const query = await server.send('GET', '/cats/query?age=x');
    expect(query.body).toEqual({ status: 400, error: 'Bad Request' });
    expect(query.headers.get('lanyard-fault')).toBe('query age');
  });

  it('has its parsed body in the request, after the guards', async () => {
    const sent = await post('request', { name: 'Tom' }, { 'x-cat': 'Tom' });
    expect(sent.body?.results).toEqual({
      body: { name: 'Tom' },
      cat: 'Tom',
      hasIp: true,
      organizationId: server.organizationId,
    });
  });

  it('has its bytes with @RawBody(), whatever its type', async () => {
    const text = '{"event": "sent" }';
    for (const type of ['application/json', 'text/plain']) {
      const { body } = await post('raw', text, { 'content-type': type });
      expect(body?.results).toBe(createHash('sha256').update(text).digest('hex'));
    }
  });

  it('has another Idempotency-Key where its bytes are others, whatever its type', async () => {
    for (const type of ['application/json', 'text/plain']) {
      const headers = { 'content-type': type, 'idempotency-key': `raw ${type}`.replace(' ', '-') };
      const sent = ['{"event":"sent"}', '{"event":"sent"}', '{"event":"read"}'];
      const statuses: number[] = [];
      for (const text of sent) statuses.push((await post('raw', text, headers)).status);
      expect(statuses).toEqual([200, 200, 422]);
    }
  });

  it.each([
    ['', { min: 0, indoor: false }],
    ['?min=5&indoor=true&color=black&ids=1,2', { min: 5, indoor: true, color: 'black', ids: [1, 2] }],
    ['?min=007', { min: 7, indoor: false }],
  ])('has its parameters converted by pipes: %s', async (query, results) => {
    expect(await get(query)).toEqual({ status: 200, results });
  });

  it.each([
    ['?min=a', 'Validation failed (numeric string is expected)'],
    ['?min=', 'Validation failed (numeric string is expected)'],
    ['?min=0x10', 'Validation failed (numeric string is expected)'],
    ['?min=1e3', 'Validation failed (numeric string is expected)'],
    ['?min=1.5', 'Validation failed (numeric string is expected)'],
    ['?indoor=2', 'Validation failed (boolean string is expected)'],
    ['?color=red', 'Validation failed (enum string is expected)'],
    ['/by-uuid/1', 'Validation failed (uuid is expected)'],
    ['/by-number/x', 'Validation failed (numeric string is expected)'],
  ])('is refused by pipes: %s', async (path, error) => {
    expect(await get(path)).toEqual({ status: 400, error });
  });

  it('has a number or a boolean where a parameter without a pipe is declared one and is one', async () => {
    const declared = { age: 5, indoor: true, breed: '7' };
    expect((await get('/declared?age=5&indoor=true&breed=7'))?.results).toEqual(declared);
  });

  it('has the parameters of its path checked by their class', async () => {
    expect((await get('/by-params/5'))?.results).toBe('5');
    const { body, headers } = await server.send('GET', '/cats/by-params/x');
    expect([body, headers.get('lanyard-fault')]).toEqual([{ status: 400, error: 'Bad Request' }, 'path id']);
  });

  const form = (bytes: number, name = 'file', fields: Record<string, string> = {}): FormData => {
    const data = new FormData();
    for (const [field, value] of Object.entries(fields)) data.append(field, value);
    data.append(name, new Blob(['x'.repeat(bytes)], { type: 'text/plain' }), 'cat.txt');
    return data;
  };

  it('may upload files, with the limits of FileInterceptor or those of Lanyard', async () => {
    expect(await results('upload', form(5, 'file', { name: 'Tom', owner: 'Jerry' }))).toEqual({
      name: 'cat.txt',
      text: 'xxxxx',
      body: { name: 'Tom' },
    });
    expect((await post('upload', form(5, 'file', { name: 'T' }))).body?.error).toBe("Missing or invalid 'name'");
    expect((await post('upload', form((1 << 20) + 1, 'file', { name: 'Tom' }))).status).toBe(413);
    expect(await results('uploads', form((1 << 20) + 1, 'files'))).toEqual([(1 << 20) + 1]);
    expect((await post('upload', form(5), { 'x-api-key': 'x' })).status).toBe(403);
    const key = { 'idempotency-key': 'upload-1' };
    const once = await post('upload', form(5, 'file', { name: 'Tom' }), key);
    expect([once.status, once.headers.get('lanyard-fault')]).toEqual([400, 'header Idempotency-Key']);
  });

  it('is 400 with a form where the handler takes none', async () => {
    expect((await post('one', form(5, 'file', { name: 'Tom' }))).status).toBe(400);
  });
});
