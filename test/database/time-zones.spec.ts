import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The zone of a process is settled when it starts, so each run is a process of its own. */
it.each(['Pacific/Kiritimati', 'America/Los_Angeles'])(
  'dates are the same under TZ=%s',
  async (TZ) => {
    const jest = require.resolve('jest/bin/jest');
    const args = [jest, '--ci', '--testMatch', '**/test/api/dates.e2e-spec.ts'];
    const env = { ...process.env, TZ, PGTZ: TZ, DATABASE_URL: process.env.LANYARD_TEST_SERVER };
    const { stderr } = await promisify(execFile)(process.execPath, args, { env });
    expect(stderr).toContain(`dates, in ${TZ}`);
    expect(stderr).toMatch(/Tests: +11 passed, 11 total/);
  },
  120_000,
);
