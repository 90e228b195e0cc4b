import type { IncomingMessage, Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DISCONNECTS, disconnect } from '../support/disconnects';
import { until } from '../support/embedded-fixtures';
import { InProcess, startInProcess, Tenant, withTenant } from '../support/lanyard';

const CLIENTS = 20;
const MAX_COLLECTIONS = 200;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('a request whose client leaves', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  let requests: WeakRef<IncomingMessage>[];
  /** The requests of each way to leave. */
  const begun = new Map<string, WeakRef<IncomingMessage>[]>();
  const kept = (all = [...begun.values()].flat()): number =>
    all.filter((request) => request.deref() !== undefined).length;

  /** A collection of the whole heap takes long, so that all ways share them. */
  beforeAll(async () => {
    [lanyard, tenant] = await withTenant(startInProcess({ simulate: 'on' }));
    const server = lanyard.app.getHttpServer() as Server;
    server.prependListener('request', (request: IncomingMessage) => requests.push(new WeakRef(request)));
    for (const way of DISCONNECTS) {
      requests = [];
      const haveBegun = () => until(() => requests.length >= CLIENTS);
      const clients = Array.from({ length: CLIENTS }, () => disconnect(lanyard.baseUrl, tenant.key, way, haveBegun));
      await Promise.all(clients);
      begun.set(way.name, requests);
    }
    requests = [];
    // Node keeps the last request until the next one.
    await tenant.api.get('/leads').expect(200);
    let collections = 0;
    await until(() => {
      collectGarbage();
      return kept() === 0 || ++collections === MAX_COLLECTIONS;
    });
  }, 60_000);

  it.each(DISCONNECTS)('is kept by nobody: $name', ({ name }) => {
    const own = begun.get(name) ?? [];
    expect([own.length >= CLIENTS, kept(own)]).toEqual([true, 0]);
  });
});
