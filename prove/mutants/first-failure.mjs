import { TestEnvironment } from 'jest-environment-node';

/** Runs the tests that are asked for until one fails, which is enough: jest itself would go on to the end of the file. */
export default class FirstFailure extends TestEnvironment {
  hasFailed = false;

  constructor(config, context) {
    super(config, context);
    const { testNamePattern = '' } = config.globalConfig;
    // Stryker names each test. A regular expression of a thousand names is too large.
    this.names = testNamePattern && new Set(testNamePattern.slice(1, -1).split(')|(').map(unescaped));
  }

  handleTestEvent({ name, test }, state) {
    if (name === 'run_start') state.testNamePattern = { test: (id) => !this.hasFailed && this.isAskedFor(id) };
    // A failed start makes errors of the tests that it was for.
    if (name === 'test_started' || name === 'test_done') this.hasFailed ||= test.errors.length > 0;
    // What was not started cannot be stopped: Stryker would not count that mutant as caught.
    if (name === 'run_finish' && this.hasFailed) state.unhandledErrors.length = 0;
  }

  isAskedFor(id) {
    return !this.names || this.names.has(id);
  }
}

const unescaped = (text) => text.replace(/\\(.)/g, '$1');
