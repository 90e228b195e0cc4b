import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster } from './cluster';
import { until } from './daemon';
import { untilWritten } from './killed';
import type { Fault, Stage } from './stage';

/** Milliseconds for which PostgreSQL stays away while the API is started: longer than a start takes. */
const AWAY = 3_000;

/** What the API meets when it is started. */
const MEETINGS: [string, (cluster: Cluster) => Promise<void>][] = [
  [
    'PostgreSQL comes later',
    async ({ postgres, apis }) => {
      await postgres.killAll();
      apis.forEach((api) => api.launch());
      await pause(AWAY);
      await postgres.start();
    },
  ],
  [
    'PostgreSQL recovers',
    async ({ postgres, apis }) => {
      await postgres.killAll();
      postgres.launch();
      apis.forEach((api) => api.launch());
    },
  ],
  [
    'Redis is not there',
    async ({ redis, apis }) => {
      await redis.kill();
      apis.forEach((api) => api.launch());
      await Promise.all(apis.map((api) => api.untilReady()));
      await redis.start();
    },
  ],
];

export const starts: Fault = {
  name: 'starts',
  times: 2,
  async play(stage: Stage) {
    const cluster = await stage.cluster({ apis: 2 });
    const load = await stage.load(cluster, { workers: 8, think: 10 });
    const broken: string[] = [];
    const recovered: number[] = [];
    for (let n = 0; n < stage.times; n++) {
      for (const [name, meet] of MEETINGS) {
        await pause(500);
        await Promise.all(cluster.apis.map((api) => api.kill()));
        await meet(cluster);
        const ready = until('all are ready', async () => {
          const states = await Promise.all(cluster.apis.map(async (api) => !api.isRunning || (await api.isReady())));
          return states.every(Boolean);
        });
        recovered.push(await ready);
        if (cluster.apis.every(({ isRunning }) => isRunning)) await untilWritten(load);
        else broken.push(`${name}: a process ended`);
        for (const api of cluster.apis.filter(({ isRunning }) => !isRunning)) await api.start();
      }
    }
    return { recovered, measured: MEETINGS.map(([name]) => name).join(', '), broken };
  },
};

/** Processes that find an empty database at one moment. */
const MIGRATING = 6;

export const migrating: Fault = {
  name: 'migrating',
  times: 3,
  async play(stage: Stage) {
    const broken: string[] = [];
    for (let n = 0; n < stage.times; n++) {
      const cluster = await stage.cluster({ apis: 0 });
      await cluster.addApis({ apis: MIGRATING, isStarted: false });
      for (const api of cluster.apis) api.launch();
      // One that may be at it is killed; the lock goes with it.
      await pause(stage.random.integer(500, 2_000));
      await cluster.apis[0]?.kill();
      await Promise.all(cluster.apis.slice(1).map((api) => api.untilReady()));
      const names = await cluster.postgres.query<{ name: string }>('select name from migrations');
      if (new Set(names.map(({ name }) => name)).size !== names.length) broken.push('a migration was applied twice');
      if (!(await cluster.check())) broken.push('operator check finds that what is stored is wrong');
      await cluster.stop();
    }
    return { measured: `${stage.times} times ${MIGRATING} processes at once, of which one is killed`, broken };
  },
};
