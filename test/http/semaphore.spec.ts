import { setImmediate as settled } from 'node:timers/promises';
import { Semaphore } from '../../src/api/semaphore';

it('a semaphore runs two tasks at a time, and the others in their order, also after one that fails', async () => {
  const semaphore = new Semaphore(2);
  const tasks: { end: () => void; fail: (error: Error) => void }[] = [];
  const start = () => semaphore.run(() => new Promise<void>((end, fail) => tasks.push({ end, fail })));
  const [, second] = [start(), start(), start(), start()];
  expect(tasks).toHaveLength(2);
  tasks[1]?.fail(new Error('no'));
  await expect(second).rejects.toThrow('no');
  expect(tasks).toHaveLength(3);
  for (const { end } of tasks) end();
  await settled();
  expect(tasks).toHaveLength(4);
  tasks[3]?.end();
  await settled();
  for (let times = 0; times < 3; times++) void start();
  expect(tasks).toHaveLength(6);
});
