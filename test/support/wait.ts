import { setTimeout as delay } from 'node:timers/promises';
import { query } from '../../src/testing/test-database';

/** Shorter than what Jest gives a test, which would only say that the time is over. */
const DEADLINE_MS = 25_000;

/**
 * Waits for a condition.
 * @throws after the deadline, at the line of the caller: what it waited for
 */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  { what = String(condition), deadlineMs = DEADLINE_MS } = {},
): Promise<void> {
  const late = new Error();
  Error.captureStackTrace(late, waitUntil);
  const started = performance.now();
  while (!(await condition())) {
    if (performance.now() - started > deadlineMs) {
      late.message = `After ${deadlineMs / 1000} s it is still not true: ${what}`;
      throw late;
    }
    await delay(10);
  }
}

/** How many statements on the database wait for a lock. */
export async function lockWaits(url: string): Promise<number> {
  const [row] = await query(
    url,
    "select count(*)::integer from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return row?.count as number;
}
