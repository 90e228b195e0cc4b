import type { IncomingMessage, Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DISCONNECTS, disconnect } from '../support/servers/disconnects';
import { InProcess, startInProcess, Tenant, withTenant } from '../support/lanyard';
import { waitUntil } from '../support/wait';

const CLIENTS = 20;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('a request whose client leaves', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  let requests: WeakRef<IncomingMessage>[];
  beforeAll(async () => {
    [lanyard, tenant] = await withTenant(startInProcess({ simulate: 'on' }));
    const server = lanyard.app.getHttpServer() as Server;
    server.prependListener('request', (request: IncomingMessage) => requests.push(new WeakRef(request)));
  });
  beforeEach(() => void (requests = []));

  it.each(DISCONNECTS)('is kept by nobody: $name', async (way) => {
    const haveBegun = () => waitUntil(() => requests.length >= CLIENTS);
    const clients = Array.from({ length: CLIENTS }, () => disconnect(lanyard.baseUrl, tenant.key, way, haveBegun));
    await Promise.all(clients);
    const begun = requests;
    requests = [];
    // Node keeps the last request until the next one.
    await tenant.api.get('/leads').expect(200);
    const kept = (): number => begun.filter((request) => request.deref() !== undefined).length;
    await waitUntil(() => {
      collectGarbage();
      return kept() === 0;
    });
    expect([begun.length >= CLIENTS, kept()]).toEqual([true, 0]);
  });
});
