import { once } from 'node:events';
import type { Server } from 'node:http';
import { type Address, ConfigError } from '../config';

/**
 * Node's own listen: Nest's would log the error a second time.
 * @param name of the setting that the port comes from
 * @throws ConfigError when the address cannot be had
 */
export async function listen(server: Server, { host, port }: Address, name: string): Promise<void> {
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    const reason = { host, port, name, code: (error as NodeJS.ErrnoException).code };
    throw refusal(reason) ?? error;
  }
}

function refusal({ code, host, port, name }: Address & { code?: string; name: string }): ConfigError | undefined {
  if (code === 'EADDRINUSE') return new ConfigError(`${name}: ${port} is in use by another program`);
  if (code === 'EACCES') return new ConfigError(`${name}: ${port} may not be used by this user`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new ConfigError(`HOST: ${host} is no address of this machine`);
  }
  return undefined;
}
