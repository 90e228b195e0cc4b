import type { Circus } from '@jest/types';
import { TestEnvironment } from 'jest-environment-node';

/** Skips a test, rather than failing it, that needs what this run cannot do (`LeftOut` of deployment-operator.ts). */
export default class LeftOutEnvironment extends TestEnvironment {
  handleTestEvent({ name, ...event }: Circus.Event): void {
    if (name !== 'test_done' || !('test' in event)) return;
    const { test } = event as { test: Circus.TestEntry };
    const reason = test.errors.flat().find((error) => (error as Error | undefined)?.name === 'LeftOut') as
      Error | undefined;
    if (reason) Object.assign(test, { errors: [], status: 'skip', name: `${test.name} (left out: ${reason.message})` });
  }
}
