import { once } from 'node:events';
import type { Server } from 'node:http';
import { type Address, ConfigError } from '../../config';

/**
 * Uses Node's own listen, because Nest's would log the error a second time.
 * @param name the setting that the port comes from
 * @throws ConfigError if the address cannot be used
 */
export async function listen(server: Server, { host, port }: Address, name: string): Promise<void> {
  const noAddress = `HOST ${host} is not an address of this machine. Use one that is, or 0.0.0.0 for all interfaces.`;
  const reasons: Record<string, string> = {
    EADDRINUSE: `${name} ${port} is already in use. Stop the other program or choose a different ${name}.`,
    EACCES: `${name} ${port} needs privileges that this user lacks. Choose a ${name} of 1024 or above.`,
    EADDRNOTAVAIL: noAddress,
    ENOTFOUND: noAddress,
    EAI_AGAIN: noAddress,
  };
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
    throw reason ? new ConfigError(reason) : error;
  }
}
