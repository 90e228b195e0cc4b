import asyncHooks from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

/** Under which jest-circus keeps what it knows of one suite: with these left, a suite would report to the one before. */
const STATE_OF_A_SUITE =
  /^(EVENT_HANDLERS|JEST_STATE_SYMBOL|RETRY_|TEST_TIMEOUT_SYMBOL|LOG_ERRORS_BEFORE_RETRY|WAIT_BEFORE_)/;

/** Those that were made since the last suite. `withoutStorages` of storages.ts finds them here. */
const storages = new Set();
globalThis[Symbol.for('lanyard.storages')] = storages;

/**
 * jest-circus makes one for each suite, which is in use until the process ends. Before Node.js 24, each makes every promise
 * slower: all of a run together took a sixth of the time of suites.
 */
class RecordedStorage extends asyncHooks.AsyncLocalStorage {
  constructor(...options) {
    super(...options);
    storages.add(this);
  }
}
Object.defineProperty(asyncHooks, 'AsyncLocalStorage', { value: RecordedStorage });

/**
 * Suites run in the worker's own realm, not in one of their own, so that what shared-modules.runtime.mjs loads once for
 * all of them has the same `Error` and `Array` as they have. What a suite changes of the process is put back.
 */
export default class SharedModulesEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.global = globalThis;
    this.moduleMocker = new this.moduleMocker.constructor(globalThis);
    const { projectConfig } = config;
    this.fakeTimersModern = new this.fakeTimersModern.constructor({ config: projectConfig, global: globalThis });
    this.isOneRealm = true;
    this.before = {
      console: globalThis.console,
      exit: process.exit,
      getBuiltinModule: process.getBuiltinModule,
      env: { ...process.env },
    };
  }

  async teardown() {
    await super.teardown();
    for (const storage of storages) storage.disable();
    storages.clear();
    const { env, exit, getBuiltinModule } = this.before;
    globalThis.console = this.before.console;
    Object.assign(process, { exit, getBuiltinModule });
    for (const name of Object.keys(process.env)) {
      if (!(name in env)) delete process.env[name];
    }
    Object.assign(process.env, env);
    for (const key of Object.getOwnPropertySymbols(globalThis)) {
      if (STATE_OF_A_SUITE.test(key.description)) delete globalThis[key];
    }
  }
}
