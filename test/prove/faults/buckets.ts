import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiKeysService } from '../../../src/access/api-keys.service';
import { ask } from '../support/ask';
import { seconds } from '../support/figures';
import type { Cluster } from './cluster';
import type { Fault, Stage } from './stage';

/** Keys on several processes: their tokens, and their end. */

const PROCESSES = 4;
const REQUESTS_A_PROCESS = 250;
/** The specification's defaults. */
const DEFAULTS = { maxTokens: 20, refillRate: 1 };
/** A round in which a token came back is played again, with at most so many keys for each round. */
const KEYS_A_ROUND = 3;
const MAX_REVOCATION_MS = 5_000;

export const oneKey: Fault = {
  name: 'one-key',
  promise: 'one default key on four processes',
  times: 200,
  async play(stage) {
    const cluster = await stage.cluster({ apis: PROCESSES });
    const keys = await cluster.tenants(stage.times * KEYS_A_ROUND, DEFAULTS);
    const agent = new Agent({ keepAlive: true });
    stage.defer(() => agent.destroy());
    const ports = cluster.apis.flatMap(({ port }) => Array<number>(REQUESTS_A_PROCESS).fill(port));
    const burst = (path: string, key?: string) =>
      Promise.all(ports.map((port) => ask(port, { method: 'GET', path, key, agent })));
    const admitted: number[] = [];
    for (const { key } of keys) {
      if (admitted.length === stage.times) break;
      await burst('/health/live'); // opens the connections
      const begun = performance.now();
      const given = await burst('/api/v0/tagGroups', key);
      const tookMs = performance.now() - begun;
      for (const answer of given) stage.answers.add(answer);
      // After that a token came back, which one more request may rightly have taken.
      if (tookMs < 1000 / DEFAULTS.refillRate) admitted.push(given.filter(({ status }) => status === 200).length);
    }
    const exact = admitted.filter((count) => count === DEFAULTS.maxTokens).length;
    const others = stage.answers.countOf((what) => what !== '200' && what !== '429');
    const broken = [
      ...(exact < stage.times ? [`${exact} exact rounds; admitted: ${[...new Set(admitted)].join(', ')}`] : []),
      ...(others > 0 ? [`${others} other answers`] : []),
    ];
    return { measured: `exactly 20 admitted in ${exact} of ${stage.times} rounds`, broken };
  },
};

export const revocation: Fault = {
  name: 'revocation',
  promise: 'revocation of a key',
  times: 10,
  async play(stage) {
    const cluster = await stage.cluster({ apis: PROCESSES });
    const recoveredMs: number[] = [];
    for (let n = 0; n < stage.times; n++) recoveredMs.push(await revoke(cluster, stage));
    const slowest = Math.max(...recoveredMs);
    const broken = slowest > MAX_REVOCATION_MS ? [`403 after ${seconds(slowest)}`] : [];
    return { recoveredMs, measured: `${stage.times} keys on ${PROCESSES} processes`, broken };
  },
};

/** Revokes a key that all processes use. @returns milliseconds until all of them refuse it */
async function revoke(cluster: Cluster, { canaries, random, answers }: Stage): Promise<number> {
  const { keyId, key } = await cluster.tenant();
  canaries.watch(key);
  let revoked = Infinity;
  const refused = cluster.apis.map(async ({ port }) => {
    for (;;) {
      const answer = await ask(port, { method: 'GET', path: '/api/v0/tagGroups', key });
      answers.add(answer);
      const sinceMs = performance.now() - revoked;
      if (answer.status === 403 || sinceMs > 2 * MAX_REVOCATION_MS) return sinceMs;
      await pause(20);
    }
  });
  await pause(random.between(200, 5_000));
  await cluster.asOperator((services) => {
    revoked = performance.now();
    return services.get(ApiKeysService).revoke(keyId);
  });
  return Math.max(0, ...(await Promise.all(refused)));
}
