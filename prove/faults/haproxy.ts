import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../src/embedded-postgres/free-port';
import { Daemon, until } from './daemon';
import { ask } from './http';
import type { Stage } from './stage';

/** As an operator would have it: a server that says that it is going gets no new requests. */
const configuration = (port: number, servers: number[]): string => `
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout check 2s
  option redispatch
  retries 3
frontend clients
  bind 127.0.0.1:${port}
  default_backend lanyard
backend lanyard
  option httpchk GET /health/ready
  http-check expect status 200
  default-server inter 100ms rise 1 fall 1
${servers.map((server, n) => `  server api${n} 127.0.0.1:${server} check`).join('\n')}
`;

/** @returns the port, or undefined when there is no haproxy on this machine */
export async function startHaproxy(stage: Stage, directory: string, servers: number[]): Promise<number | undefined> {
  if (spawnSync('haproxy', ['-v']).status !== 0) return undefined;
  const port = await freePort();
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, configuration(port, servers));
  const haproxy = new Daemon(join(directory, 'haproxy.log'));
  haproxy.run('haproxy', ['-db', '-f', file], { cwd: '/' });
  stage.defer(() => haproxy.kill());
  await until('haproxy serves', async () => {
    const { status } = await ask(port, { method: 'GET', path: '/health/live', close: true });
    return status === 200;
  });
  return port;
}
