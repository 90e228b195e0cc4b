import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { LeanExpressAdapter } from './express-adapter';

/** Time limit for responses in progress. A statement has two seconds; a longer delete is canceled. */
const RESPONSE_TIMEOUT_MS = 5_000;
/** Time limit for connections that the system has accepted but this process has not. */
const ACCEPT_TIMEOUT_MS = 1_000;
const IDLE_TICK_MS = 50;

/** Stops a server without losing a request: it keeps serving until load balancers have noticed, and then closes. */
export async function drainConnections(server: Server, adapter: LeanExpressAdapter, drainMs: number): Promise<void> {
  adapter.isDraining = true;
  await pause(drainMs);
  const deadline = setTimeout(() => server.closeAllConnections(), RESPONSE_TIMEOUT_MS);
  // Closing would cut off responses that clients of idle connections have not read yet.
  await Promise.race([adapter.slowReaders.waitUntilSent(), pause(RESPONSE_TIMEOUT_MS, undefined, { ref: false })]);
  const pausedSockets = await waitForAcceptQueue(server);
  const closed = once(server, 'close');
  server.close();
  for (const socket of pausedSockets) socket.resume();
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_TICK_MS);
  await closed;
  clearInterval(idle);
  clearTimeout(deadline);
}

/**
 * Waits until no connection and no request arrives. When a server closes, the system resets connections that still wait to
 * be accepted, and Node accepts one per turn of the event loop. New connections are paused, because under load each response
 * would bring the next request.
 * @returns the paused connections
 */
async function waitForAcceptQueue(server: Server): Promise<Socket[]> {
  const pausedSockets: Socket[] = [];
  let arrivals = 0;
  server.on('request', () => arrivals++);
  server.on('connection', (socket: Socket) => {
    arrivals++;
    pausedSockets.push(socket);
    process.nextTick(() => socket.pause()); // HTTP resumes it at the end of this tick
  });
  const startedAt = performance.now();
  for (let before = -1; before < arrivals && performance.now() - startedAt < ACCEPT_TIMEOUT_MS;) {
    before = arrivals;
    await pause(IDLE_TICK_MS);
    await new Promise(setImmediate); // if this process was suspended, this reads what arrived meanwhile
  }
  return pausedSockets;
}
