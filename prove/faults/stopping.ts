import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from '../support/api';
import { seconds } from '../support/figures';
import type { Fault } from './stage';

const MAX_EXIT_MS = 10_000;

/** Ends a process as an orchestrator does, and starts it again. @returns milliseconds until it had ended */
async function terminate(api: Api, broken: string[]): Promise<number> {
  const begun = performance.now();
  api.signal('SIGTERM');
  const timer = setTimeout(() => api.signal('SIGKILL'), MAX_EXIT_MS);
  const status = await api.exited;
  clearTimeout(timer);
  const tookMs = performance.now() - begun;
  if (status !== 0) broken.push(`exit status ${status} after ${seconds(tookMs)}`);
  await api.start();
  return tookMs;
}

export const sigterm: Fault = {
  name: 'sigterm',
  promise: 'SIGTERM at load',
  times: 20,
  async play(stage) {
    const cluster = await stage.cluster({ apis: 1 });
    const load = await stage.load(cluster, { workers: 32, thinkMs: 5 });
    const broken: string[] = [];
    let slowestMs = 0;
    for (let n = 0; n < stage.times; n++) {
      await pause(stage.random.between(300, 800));
      slowestMs = Math.max(slowestMs, await terminate(cluster.apis[0] as Api, broken));
    }
    await load.stop();
    // A refused connection was not accepted; everything else must have been answered by the API itself.
    const accepted = load.answers.countOf((what) => what !== 'ECONNREFUSED');
    const lost = accepted - load.answers.countOf((what) => /^[24]\d\d$/.test(what));
    if (lost > 0) broken.push(`${lost} requests lost`);
    const measured =
      `${stage.times} times: ${lost} accepted requests lost of ${accepted}, ` +
      `ended after at most ${seconds(slowestMs)}`;
    return { measured, broken };
  },
};
