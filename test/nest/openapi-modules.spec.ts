/**
 * Its modules would be in the document of suites that share the process.
 * @jest-environment node
 */
import { Body, Controller, Get, Module, Param, Post, StreamableFile, Version } from '@nestjs/common';
import {
  ApiBody,
  ApiConflictResponse,
  ApiConsumes,
  ApiOkResponse,
  ApiProduces,
  ApiResponse,
  ApiUnauthorizedResponse,
} from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { Public } from '../../src/http/pipeline/public';
import { openApiDocument } from '../../src/openapi/document';
import { description } from '../support/description';
import { startWithModules } from '../support/plain-modules';

const PDF = { type: 'string', format: 'binary' } as const;

class CreateBadgeDto {
  @IsString() name: string;
}

@Controller('badges')
class BadgesController {
  @Get()
  list() {
    return [];
  }

  @Post()
  create(@Body() body: CreateBadgeDto) {
    return body;
  }

  @Get('list.pdf')
  @ApiOkResponse({ description: 'All badges.', content: { 'application/pdf': { schema: PDF } } })
  print() {
    return new StreamableFile(Buffer.from('%PDF'));
  }

  @Get(':id.pdf')
  @ApiProduces('application/pdf')
  @ApiOkResponse({ schema: PDF })
  printOne(@Param('id') id: string) {
    return new StreamableFile(Buffer.from(id));
  }

  @Get('first')
  @ApiOkResponse({ type: CreateBadgeDto })
  first() {
    return { name: 'Ada' };
  }

  @Post('photo')
  @ApiConsumes('multipart/form-data')
  @ApiBody({ schema: { type: 'object', properties: { photo: PDF } } })
  upload() {}
}

/** Its methods have the names of others, one of them Lanyard's. */
@Controller('printers')
class PrintersController {
  @Get()
  list() {
    return [];
  }

  @Get()
  @Version('2')
  listAgain() {
    return [];
  }

  @Post()
  create(@Body() body: CreateBadgeDto) {
    return body;
  }

  @Get('changes')
  getChanges() {
    return [];
  }
}

@Public()
@Controller('doors')
class DoorsController {
  @Post()
  @ApiOkResponse({ type: CreateBadgeDto })
  @ApiUnauthorizedResponse()
  @ApiConflictResponse({ description: 'The door is open.' })
  @ApiResponse({ status: 418 })
  open(@Body() body: CreateBadgeDto) {
    return body;
  }
}

@Module({ controllers: [BadgesController, PrintersController, DoorsController] })
class BadgesModule {}

const operationsOf = ({ paths }: { paths: object }): Record<string, Record<string, { operationId?: string }>> =>
  paths as never;
const idsOf = (document: { paths: object }): string[] =>
  Object.values(operationsOf(document)).flatMap((path) =>
    Object.values(path).map(({ operationId = '' }) => operationId),
  );

describe("the document of a team's module", () => {
  let document: ReturnType<typeof openApiDocument>;
  beforeAll(async () => {
    const { app } = await startWithModules([BadgesModule]);
    document = openApiDocument(app);
  });
  const successOf = (path: string) => document.paths[path]?.get?.responses['200'];

  it.each(['/badges/list.pdf', '/badges/{id}.pdf'])('has the content type of a file: %s', (path) => {
    expect(successOf(path)).toMatchObject({
      headers: { 'X-Request-Id': {} },
      content: { 'application/pdf': { schema: PDF } },
    });
  });

  it('has the schema of a response as the module describes it, and the form of a request', () => {
    expect(successOf('/badges/first')).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/CreateBadgeDto' } } },
    });
    expect(Object.keys(document.components?.schemas ?? {})).not.toContain('');
    expect(document.paths['/badges/photo']?.post?.requestBody).toMatchObject({
      content: { 'multipart/form-data': { schema: { properties: { photo: PDF } } } },
    });
  });

  it('says nothing of keys where none is needed', () => {
    const { parameters, responses, security } = document.paths['/doors']?.post ?? {};
    expect(security).toEqual([]);
    expect(parameters).toEqual([{ $ref: '#/components/parameters/X-Request-Id' }]);
    expect(Object.keys((responses?.['200'] as { headers: object }).headers)).toEqual([
      'X-Request-Id',
      'Access-Control-Allow-Origin',
    ]);
    expect(Object.keys(responses ?? {})).toEqual(['200', '400', '401', '409', '413', '418', '500', '503', 'default']);
  });

  it('has the errors of a module as it describes them, and otherwise those of all operations', () => {
    const { responses } = document.paths['/doors']?.post ?? {};
    expect(responses?.['401']).toEqual({ $ref: '#/components/responses/Unauthorized' });
    expect(responses?.['409']).toEqual({ description: 'The door is open.' });
    expect(responses?.['418']).toEqual({ $ref: '#/components/responses/OtherError' });
  });

  it('has each operationId once, and keeps those of Lanyard', () => {
    const ids = idsOf(document);
    expect(ids).toEqual([...new Set(ids)]);
    expect(ids).toEqual(expect.arrayContaining(['list', 'create', 'PrintersController_list']));
    expect(ids).toEqual(expect.arrayContaining(idsOf(description)));
    for (const [path, operations] of Object.entries(operationsOf(description)))
      for (const [method, { operationId }] of Object.entries(operations))
        expect(operationsOf(document)[path]?.[method]?.operationId).toBe(operationId);
  });
});
