import { TestEnvironment } from 'jest-environment-node';

/** One failure finds a mutant: jest itself would go on to the end of the file. */
export default class FirstFailure extends TestEnvironment {
  hasFailed = false;

  handleTestEvent({ name, hook }, state) {
    if (name === 'test_fn_failure' || (name === 'hook_failure' && hook.type !== 'afterAll')) {
      this.hasFailed = true;
      state.testNamePattern = /(?!)/; // of no test
    }
    // After a start that failed, the stop fails too: Stryker would not count that mutant as caught.
    if (name === 'run_finish' && this.hasFailed) state.unhandledErrors.length = 0;
  }
}
