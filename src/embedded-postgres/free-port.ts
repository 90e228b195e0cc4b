import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** A TCP port of 127.0.0.1 that is free at this moment: `preferred` if it is, else any. */
export async function freePort(preferred?: number): Promise<number> {
  return (preferred && (await listen(preferred).catch(() => undefined))) || listen(0);
}

async function listen(port: number): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: found } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return found;
}
