import { TestEnvironment } from 'jest-environment-node';

/** Characters. A regular expression of the names of a thousand tests is too large: then all run, until one fails. */
const MAX_PATTERN = 100_000;

/** One failure finds a mutant: jest itself would go on to the end of the file. */
export default class FirstFailure extends TestEnvironment {
  hasFailed = false;

  handleTestEvent({ name, test }, state) {
    if (name === 'run_start' && state.testNamePattern?.source.length > MAX_PATTERN) state.testNamePattern = undefined;
    // A start that failed is an error of each test that it was for.
    if (name === 'test_started' || name === 'test_done') this.hasFailed ||= test.errors.length > 0;
    if (this.hasFailed) state.testNamePattern = /(?!)/; // of no test
    // What was not started cannot be stopped: Stryker would not count that mutant as caught.
    if (name === 'run_finish' && this.hasFailed) state.unhandledErrors.length = 0;
  }
}
