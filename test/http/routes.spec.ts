import type { Page } from '../../src/data/database/statements';
import { ErrorResponse } from '../../src/http/pipeline/returns';
import { Returns } from '../../src/http/pipeline/returns';
import { ENDPOINTS, PLAIN_ENDPOINTS } from '../support/endpoints';
import { InProcess, startInProcess } from '../support/lanyard';
import { findUndescribed } from '../support/listings/undescribed';

/** The endpoint list of the specification. */
const SPECIFIED = `
  GET /events, GET /events/:eventId, POST /events, PUT /events/:eventId, DELETE /events/:eventId,
  GET /events/:eventId/leads, PUT /events/:eventId/leads, DELETE /events/:eventId/leads/:leadId,
  GET /events/:eventId/users, GET /leads, GET /leads/:leadId, POST /leads, PATCH /leads/:leadId, DELETE /leads/:leadId,
  GET /leadActivityEvents, GET /leadActivityEvents/:leadActivityEventId, GET /activations,
  GET /activations/:activationId, GET /tagGroups, GET /tagGroups/:tagGroupId, GET /industryEvents,
  GET /industryEvents/bookmarks, GET /industryEvents/:industryEventId, POST /industryEvents,
  PUT /industryEvents/:industryEventId, POST /industryEvents/:industryEventId/bookmark,
  DELETE /industryEvents/:industryEventId/bookmark`
  .split(',')
  .map((endpoint) => endpoint.trim());

/** `npm run types` fails unless the compiler refuses this: its answer would be `[object Object]`. */
export class Miswrapped {
  // @ts-expect-error a page is no record
  @Returns(ErrorResponse, 'x')
  list(): Promise<Page> {
    throw new Error();
  }
}

interface Layer {
  route?: { path: string; methods: Record<string, boolean> };
}

describe('routes', () => {
  let inside: InProcess;
  beforeAll(async () => void (inside = await startInProcess()));

  const served = (): string[] => {
    const { router } = inside.app.getHttpAdapter().getInstance() as { router: { stack: Layer[] } };
    return router.stack.flatMap(({ route }) =>
      route ? Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${route.path}`) : [],
    );
  };
  const ofTheApi = (): string[] => served().filter((route) => route.includes(' /api/v0/'));

  it('are the 27 of the specification, and what was added to them', () => {
    expect(SPECIFIED).toHaveLength(27);
    expect(ofTheApi()).toEqual(expect.arrayContaining(SPECIFIED.map((endpoint) => endpoint.replace(' ', ' /api/v0'))));
  });

  it('are all described: what a handler lacks stands in a line here', () => {
    const isOfPlainModule = (line: string) =>
      PLAIN_ENDPOINTS.some((name) => line.replace(/\{(\w+)\}/g, ':$1').startsWith(`${name} lacks`));
    expect(findUndescribed(inside.app).filter((line) => !isOfPlainModule(line))).toEqual([]);
  });

  // Without @Tag on its controller, an endpoint is of a plain Nest module: nothing says what it takes and returns.
  if (PLAIN_ENDPOINTS.length > 0) {
    it.skip.each(PLAIN_ENDPOINTS)('of plain modules are called by no suite but their own: %s', () => undefined);
  }

  it('are those of openapi.json, and nothing else is (npm run openapi writes it)', () => {
    const names = [...ENDPOINTS.map(({ name }) => name), ...PLAIN_ENDPOINTS];
    const described = names.map((name) => name.replace(' ', ' /api/v0'));
    expect(described.sort()).toEqual(ofTheApi().sort());
  });

  it('outside the API are health and the reference', () => {
    const outside = [...new Set(served())].filter(
      (route) => route.startsWith('GET ') && !route.startsWith('GET /api/v0'),
    );
    const reference = outside.filter((route) => /^GET \/(docs(\/.*)?|openapi\.(json|yaml))?$/.test(route));
    expect(outside.sort()).toEqual(['GET /health/live', 'GET /health/ready', ...reference].sort());
  });

  it('are all guarded', async () => {
    for (const endpoint of ofTheApi()) {
      const [method = '', path = ''] = endpoint.split(' ');
      const url = new URL(path.replace(/:\w+/g, '1'), inside.baseUrl);
      expect(`${endpoint} ${(await fetch(url, { method })).status}`).toBe(`${endpoint} 401`);
    }
  });
});
