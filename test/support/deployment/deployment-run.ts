import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../../../package.json';
import { GENEROUS_LIMITS } from '../../../src/testing/test-lanyard';
import { TEST_MARK } from '../builders';
import { findUnfitSettings } from './deployment-settings';
import {
  emptyOrganization,
  CREATED_ORGANIZATIONS_FILE,
  nameOfRun,
  operatorCommand,
  operatorOf,
  runOperator,
} from './deployment-operator';

const BUILD = join(__dirname, '../../../scripts/build.mjs');

/** Files of what runs have made: one that was killed leaves it to the next. */
const RECORDS = join(tmpdir(), 'lanyard-e2e');

/** Organizations that are deleted at the same time. */
const DELETED_AT_ONCE = 4;

/** Why a run cannot begin, one reason per line. */
class Unfit extends Error {
  constructor(reasons: readonly string[]) {
    super(reasons.join('\n'));
  }
}

/** The records of runs against a deployment are called after it, the process and the run. */
const prefixOf = (baseUrl: string): string =>
  createHash('sha256')
    .update([baseUrl, process.env.E2E_KEY ?? operatorCommand().join(' '), process.env.DATABASE_URL ?? ''].join(' '))
    .digest('hex')
    .slice(0, 16);

/**
 * Before the first test: takes away what an earlier run has left, and finds out whether the suites can work. Where they
 * cannot, it says so, in one line for each reason, and ends the process.
 * @returns what takes away all that the suites make
 */
export async function prepareDeployment(baseUrl: string): Promise<() => Promise<void>> {
  if (!process.env.E2E_OPERATOR && !process.env.E2E_KEY) {
    execFileSync(process.execPath, [BUILD, '--if-needed'], { stdio: 'inherit' });
  }
  mkdirSync(RECORDS, { recursive: true });
  const prefix = prefixOf(baseUrl);
  const left = readdirSync(RECORDS).filter((name) => name.startsWith(prefix) && !isRunning(Number(name.split('-')[1])));
  const file = join(RECORDS, `${prefix}-${process.pid}-${randomBytes(4).toString('hex')}`);
  let cleaning: Promise<void> | undefined;
  const cleanUp = () => (cleaning ??= takeAway(baseUrl, file));
  try {
    for (const name of left) await takeAway(baseUrl, join(RECORDS, name));
    if (process.env.E2E_KEY) await requireKey(baseUrl, process.env.E2E_KEY);
    writeFileSync(file, '');
    process.env[CREATED_ORGANIZATIONS_FILE] = file;
    if (!process.env.E2E_KEY) await requireOperator(baseUrl);
  } catch (error) {
    await cleanUp();
    if (!(error instanceof Unfit)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
  return cleanUp;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Deletes what a run has made. What cannot be deleted is left to the next run, and said. */
async function takeAway(baseUrl: string, file: string): Promise<void> {
  if (!existsSync(file)) return;
  try {
    if (process.env.E2E_KEY) await emptyOrganization(baseUrl, process.env.E2E_KEY);
    else await deleteOrganizations(file);
    rmSync(file);
  } catch (error) {
    process.stderr.write(
      `The records of this run could not be deleted; the next run tries again: ${reasonOf(error)}\n`,
    );
  }
}

async function deleteOrganizations(file: string): Promise<void> {
  const ids = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  // A run that created no organization created nothing else, and perhaps has no operator to delete it.
  if (ids.length === 0) return;
  const remove = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      await runOperator(['organizations', 'delete', id, '--confirm', nameOfRun(file)]).catch((error: unknown) => {
        if (!/does not exist|does not match/.test(reasonOf(error))) throw error; // deleted already
      });
    }
  };
  await Promise.all(Array.from({ length: DELETED_AT_ONCE }, remove));
  await runOperator(['industry-events', 'delete', '--source-type', TEST_MARK]);
}

/** The last line of a command that was refused. */
const reasonOf = (error: unknown): string => {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr || message).trim().split('\n').at(-1) ?? '';
};

/** @throws Unfit with all errors, and those of settings of the server with which suites would fail */
async function requireSettings(baseUrl: string, key: string, errors: readonly (string | undefined)[]): Promise<void> {
  const found = [...errors, ...(await findUnfitSettings(baseUrl, key))].filter((error) => error !== undefined);
  if (found.length > 0) throw new Unfit(found);
}

/** The suites count the tokens of a key exactly. */
async function serverCountError(): Promise<string | undefined> {
  // An operator of another release may not know the number.
  const { serversWithoutRedis = 0 } = await runOperator<{ serversWithoutRedis?: number }>(['status']);
  if (serversWithoutRedis < 2) return undefined;
  return `${serversWithoutRedis} servers without Redis use the database, so limits of keys are not exact. Set REDIS_URL on all of them, or run one.`;
}

/** @throws Unfit unless a key of the operator is accepted by the server */
async function requireOperator(baseUrl: string): Promise<void> {
  const operator = operatorOf(baseUrl);
  const command = process.env.E2E_OPERATOR ?? 'the operator of this folder';
  const { key } = await operator
    .createOrganization('')
    .then(({ id }) => operator.issueKey(id, GENEROUS_LIMITS))
    .catch((error: unknown) => {
      throw new Unfit([`Cannot issue a key with ${command}: ${reasonOf(error)}`]);
    });
  const refusal = `${baseUrl} rejects a key that was issued with ${command}. Do both use the same database?`;
  await requireAccepted(baseUrl, key, refusal);
  await requireSettings(baseUrl, key, [await serverCountError()]);
}

/** @throws Unfit unless the key is accepted, has tokens enough, and an organization without data */
async function requireKey(baseUrl: string, key: string): Promise<void> {
  const { total, limit } = await requireAccepted(baseUrl, key, `${baseUrl} rejects the key of LANYARD_KEY.`);
  const errors: string[] = [];
  if (total > 0)
    errors.push('The organization of LANYARD_KEY has leads, which the suites would delete. Use an empty organization.');
  if (limit < 1000)
    errors.push(
      `LANYARD_KEY has ${limit} tokens, but the suites need thousands: --max-tokens 1000000 --refill-rate 1000000`,
    );
  await requireSettings(baseUrl, key, errors);
}

async function requireAccepted(
  baseUrl: string,
  key: string,
  refusal: string,
): Promise<{ total: number; limit: number }> {
  const response = await fetch(`${baseUrl}/leads?limit=1`, { headers: { 'x-api-key': key } }).catch((error: Error) => {
    const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
    throw new Unfit([`Nothing responds at ${baseUrl} (${code ?? message}).`]);
  });
  if (response.status === 403) throw new Unfit([refusal]);
  const body = (await response.json().catch(() => ({}))) as { results?: { total?: number } };
  if (!response.ok || body.results?.total === undefined) {
    throw new Unfit([`${baseUrl} responds with ${response.status}, unlike Lanyard. Is it the right URL?`]);
  }
  const described = await fetch(`${new URL(baseUrl).origin}/openapi.json`).catch(() => undefined);
  const { info } = ((await described?.json().catch(() => undefined)) ?? {}) as { info?: { version: string } };
  if (info && info.version !== version) {
    throw new Unfit([
      `${baseUrl} is version ${info.version}, but these suites are version ${version}. Check out the same version.`,
    ]);
  }
  return { total: body.results.total, limit: Number(response.headers.get('x-ratelimit-limit')) };
}
