import { Controller, Get, Module, Post, RequestMethod } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { DataSource } from 'typeorm';
import type { HandlerContext } from '../../src/http/pipeline/handler-metadata';
import { METHOD_METADATA, PATH_METADATA } from '../../src/http/pipeline/nest-internals';
import { Public } from '../../src/http/pipeline/public';
import { ownRecordOf, Scopes, scopesOf } from '../../src/http/pipeline/scopes';
import { isPublic } from '../../src/access/api-key.guard';
import { ApiKeysService } from '../../src/access/api-keys.service';
import { ImportService } from '../../src/exchange/datasets/import.service';
import { PREFIX } from '../../src/config';
import { createExhibitor, leadInput } from '../support/builders';
import { ENDPOINTS } from '../support/endpoints';
import { type InProcess, startInProcess } from '../support/lanyard';
import { startWithModules } from '../support/plain-modules';

const CANARY = 'canary-5f1c9b';

/** What `capture` may call for any record, by the page of scopes. */
const CAPTURE = [
  'GET /events',
  'GET /events/:eventId',
  'GET /activations',
  'GET /activations/:activationId',
  'GET /tagGroups',
  'GET /tagGroups/:tagGroupId',
  'GET /industryEvents',
  'GET /industryEvents/bookmarks',
  'GET /industryEvents/:industryEventId',
  'POST /leads',
  'PUT /events/:eventId/leads',
];

/** Webhooks send what a key may read, so a key that reads registers its own. */
const READ_WRITES = ['POST /webhooks', 'DELETE /webhooks/:webhookId'];

const allows = (scope: string, name: string): boolean => {
  if (scope === 'all') return true;
  if (scope === 'capture') return CAPTURE.includes(name);
  return name.startsWith('GET ') || READ_WRITES.includes(name);
};

type Api = Awaited<ReturnType<InProcess['tenant']>>['api'];

/** A route of more methods than these is one of all methods. */
const SINGLE_METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];

interface Layer {
  name: string;
  route?: { path: string; methods: Record<string, boolean> };
}

/** Each handler's route with its scopes. */
function handlersOf({ app }: InProcess): [string, string][] {
  return [...app.get(ModulesContainer).values()].flatMap((module) =>
    [...module.controllers.values()].flatMap(({ metatype }) => {
      const controller = metatype as new () => object;
      const prototype = controller.prototype as Record<string, () => unknown>;
      const base = String(Reflect.getMetadata(PATH_METADATA, controller));
      return Object.getOwnPropertyNames(prototype).flatMap((property): [string, string][] => {
        const handler = prototype[property]!;
        const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as number];
        if (method === undefined) return [];
        const context = { getClass: () => controller, getHandler: () => handler } as HandlerContext;
        const own = ownRecordOf(context) ? ' (capture: its own)' : '';
        const scopes = isPublic(context) ? 'public' : `${scopesOf(context, method).join(', ')}${own}`;
        const path = `${base}/${String(Reflect.getMetadata(PATH_METADATA, handler))}`;
        const prefix = base.startsWith('health') ? '' : PREFIX;
        return [
          [
            `${method} ${`/${prefix}/${path}`
              .replace(/\/+/g, '/')
              .replace(/(.)\/$/, '$1')
              .replace('/{/', '{/')}`,
            scopes,
          ],
        ];
      });
    }),
  );
}

@Controller('stalls')
class StallsController {
  @Get()
  list() {
    return {};
  }

  @Post()
  create() {
    return {};
  }

  @Post('scan')
  @Scopes('capture')
  scan() {
    return {};
  }

  @Post('count')
  @Public()
  count() {
    return {};
  }
}

@Scopes('read')
@Controller('reports')
class ReportsController {
  @Post()
  @Scopes('capture')
  create() {
    return {};
  }
}

@Module({ controllers: [StallsController, ReportsController] })
class StallsModule {}

describe('scopes of keys', () => {
  let lanyard: InProcess;
  beforeAll(async () => void (lanyard = await startInProcess()));

  const withKeys = async () => {
    const tenant = await lanyard.tenant();
    const issue = async (scope: 'all' | 'read' | 'capture') => {
      const settings = { maxTokens: 1_000_000, refillRate: 1_000_000, scope };
      const { key } = await lanyard.app.get(ApiKeysService).issue(tenant.organizationId, settings);
      return lanyard.client(key) as Api;
    };
    return { ...tenant, read: await issue('read'), capture: await issue('capture'), all: await issue('all'), issue };
  };

  it('are as the page says for every operation, before the record is looked up', async () => {
    const keys = await withKeys();
    const wrong: string[] = [];
    for (const scope of ['all', 'read', 'capture'] as const) {
      for (const { name, method } of ENDPOINTS) {
        const path = name
          .split(' ')[1]!
          .replace(/:eventId/g, '1')
          .replace(/:\w+/g, '01980000-0000-7000-8000-000000000000');
        const { status, headers } = await keys[scope][method](path);
        const isRejected = status === 403 && headers['lanyard-fault-reason'] === 'scope';
        if (isRejected === allows(scope, name)) wrong.push(`${scope} ${name} ${status}`);
        if ((headers['lanyard-key-scope'] ?? 'all') !== scope) wrong.push(`${scope} ${name} header`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('name what would do, and look at nothing else of the request', async () => {
    const { read, capture } = await withKeys();
    const rejected = await read.post('/leads', {}).set('Prefer', 'nonsense').expect(403);
    expect(rejected.body).toEqual({ status: 403, error: 'Forbidden' });
    expect(rejected.headers).toMatchObject({
      'lanyard-fault': 'header x-api-key',
      'lanyard-fault-reason': 'scope',
      'lanyard-fault-detail': 'needs all or capture',
      'lanyard-key-scope': 'read',
    });
    expect((await capture.delete('/leads/x').expect(403)).headers['lanyard-fault-detail']).toBe('needs all');
    for (const api of [read, capture]) await api.post('/nothing', {}).expect(404);
  });

  it('let capture mend the lead that its key created, until anything else changes it', async () => {
    const { api, capture, issue } = await withKeys();
    const create = async () => (await capture.post('/leads', leadInput()).expect(200)).body.results as { id: string };
    const { id } = await create();
    await capture.patch(`/leads/${id}`, { jobTitle: 'Buyer' }).expect(200);
    await capture.get(`/leads/${id}`).expect(200);
    await (await issue('capture')).get(`/leads/${id}`).expect(403);
    await api.patch(`/leads/${id}`, { jobTitle: 'Owner' }).expect(200);
    const { headers } = await capture.get(`/leads/${id}`).expect(403);
    expect(headers['lanyard-fault-detail']).toBe('needs all or read or capture');
    await capture.patch(`/leads/${id}`, {}).expect(403);

    const bySql = await create();
    await lanyard.app.get(DataSource).query(`update leads set address = 'x' where id = $1`, [bySql.id]);
    await capture.get(`/leads/${bySql.id}`).expect(403);

    const old = await create();
    await lanyard.app
      .get(DataSource)
      .query(`update audit_log set at = at - interval '25 hours' where id = $1`, [old.id]);
    await capture.get(`/leads/${old.id}`).expect(403);
  });

  it('show capture nothing that another key writes meanwhile, and let it overwrite nothing', async () => {
    const { api, capture } = await withKeys();
    const wrong: string[] = [];
    const statuses = new Set<number>();
    const note = (what: string, { status, text }: { status: number; text: string }) => {
      statuses.add(status);
      if (text.includes(CANARY)) wrong.push(`${what}: ${status} shows a canary`);
      if (![200, 403].includes(status)) wrong.push(`${what}: ${status} ${text}`);
    };
    for (let round = 0; round < 25; round++) {
      const { id } = (await capture.post('/leads', leadInput()).expect(200)).body.results as { id: string };
      const isLast = round === 24;
      const patches = [1, 2, 3].map((n) => capture.patch(`/leads/${id}`, { jobTitle: `Buyer ${n}` }));
      const others = isLast ? api.delete(`/leads/${id}`) : api.patch(`/leads/${id}`, { jobTitle: CANARY });
      const [written, read, ...patched] = await Promise.all([others, capture.get(`/leads/${id}`), ...patches]);
      expect(written.status).toBe(200);
      note('GET', read);
      for (const response of patched) note('PATCH', response);
      if (isLast) continue;
      const { jobTitle } = (await api.get(`/leads/${id}`).expect(200)).body.results as { jobTitle: string };
      if (jobTitle !== CANARY) wrong.push(`The canary was overwritten by ${jobTitle}`);
    }
    expect(wrong).toEqual([]);
    // Whether a request of the key comes before that of the other one is left to chance.
    expect(statuses).toContain(403);
  });

  it('do not replay a response where the request would be rejected', async () => {
    const { api, capture } = await withKeys();
    const { id } = (await capture.post('/leads', leadInput()).expect(200)).body.results as { id: string };
    const patch = () => capture.patch(`/leads/${id}`, { jobTitle: 'Buyer' }).set('Idempotency-Key', 'once');
    await patch().expect(200);
    await patch().expect(200);
    await api.patch(`/leads/${id}`, { jobTitle: 'Owner' }).expect(200);
    await patch().expect(403);
  });

  it('stay closed without an audit log', async () => {
    const [other] = [await startInProcess({ auditDays: 0 })];
    const { organizationId } = await other.tenant();
    const limits = { maxTokens: 1000, refillRate: 1000, scope: 'capture' as const };
    const { key } = await other.app.get(ApiKeysService).issue(organizationId, limits);
    const api = other.client(key) as Api;
    const { id } = (await api.post('/leads', leadInput()).expect(200)).body.results as { id: string };
    await api.get(`/leads/${id}`).expect(403);
  });

  it('show no lead of others to capture, and change none, whatever is sent', async () => {
    const { organizationId, capture } = await withKeys();
    const { dataset } = createExhibitor();
    const stored = JSON.parse(JSON.stringify(dataset)) as { leads: { id: string; description: string }[] };
    for (const lead of stored.leads) lead.description = CANARY;
    await lanyard.app.get(ImportService).import(organizationId, stored);
    const db = lanyard.app.get(DataSource);
    const documents = (): Promise<unknown> =>
      db.query('select id, document from leads where organization_id = $1 and description = $2 order by id', [
        organizationId,
        CANARY,
      ]);
    const events = await db.query<{ id: string }[]>('select id from events where organization_id = $1', [
      organizationId,
    ]);
    const before = await documents();
    const requests = stored.leads.flatMap(({ id: leadId }) =>
      events.flatMap(({ id: eventId }) =>
        ENDPOINTS.flatMap(({ name, method, bodies }) => {
          const ids: Record<string, string> = { leadId, eventId };
          const path = name.split(' ')[1]!.replace(/:(\w+)/g, (_match, part: string) => ids[part] ?? leadId);
          return bodies.map((body) => () => capture[method](path, body(ids) as never));
        }),
      ),
    );
    let seen = 0;
    // Each request meets what it and the others have created before.
    for (let round = 0; round < 5; round++) {
      for (let n = 0; n < requests.length; n += 20) {
        const sent = requests.slice(n, n + 20).map((send) => send());
        for (const { text } of await Promise.all(sent)) seen += Number(text.includes(CANARY));
      }
    }
    expect(seen).toBe(0);
    expect(await documents()).toEqual(before);
  });

  it("are those of a team's own handlers, too", async () => {
    const server = await startWithModules([StallsModule]);
    const { issueKey } = await server.tenant();
    const statuses = await Promise.all(
      (['all', 'read', 'capture'] as const).map(async (scope) => {
        const headers = { 'x-api-key': (await issueKey({ scope })).key };
        const statusOf = async (method: string, path: string) => (await server.send(method, path, { headers })).status;
        return [
          await statusOf('GET', '/stalls'),
          await statusOf('HEAD', '/stalls'),
          await statusOf('POST', '/stalls'),
          await statusOf('POST', '/stalls/scan'),
          await statusOf('POST', '/stalls/count'),
          await statusOf('POST', '/reports'),
        ];
      }),
    );
    expect(statuses).toEqual([
      [200, 200, 200, 200, 200, 200],
      [200, 200, 403, 403, 200, 200],
      [403, 403, 403, 200, 200, 200],
    ]);

    const { body } = await server.send('GET', '/../../openapi.json');
    const { paths } = body as { paths: Record<string, Record<string, { security: object[] }>> };
    const security = [paths['/stalls']!.post, paths['/stalls/scan']!.post, paths['/stalls/count']!.post];
    expect([...security, paths['/reports']!.post].map((operation) => operation!.security)).toEqual([
      [{ apiKey: ['all'] }],
      [{ apiKey: ['all', 'capture'] }],
      [],
      [{ apiKey: ['all', 'read', 'capture'] }],
    ]);
  });

  it('are listed for each route of a server: a new route is a new line', () => {
    const ofControllers = new Map(handlersOf(lanyard));
    const { router } = lanyard.app.getHttpAdapter().getInstance() as { router: { stack: Layer[] } };
    const lines = router.stack.flatMap(({ route, name }) => {
      // What Nest does not route needs no key: the pages of the reference, and what all requests pass before them.
      if (!route) return [`USE ${name}: public`];
      const methods = Object.keys(route.methods).filter((method) => method !== '_all');
      return (methods.length > SINGLE_METHODS.length ? ['all'] : methods).map((method) => {
        const served = `${method.toUpperCase()} ${route.path}`;
        return `${served}: ${ofControllers.get(served) ?? 'public'}`;
      });
    });
    expect(lines.sort()).toMatchSnapshot();
    const listed = lines.map((line) => line.split(': ')[0]);
    expect([...ofControllers.keys()].filter((route) => !listed.includes(route))).toEqual([]);
  });
});
