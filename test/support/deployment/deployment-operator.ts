import { execFile } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KeySettings } from '../../../src/access/api-keys.service';
import { GENEROUS_LIMITS } from '../../../src/testing/test-lanyard';

/** What the operator does before a client can do anything. */
export interface DeploymentOperator {
  createOrganization(name: string): Promise<{ id: number }>;
  issueKey(organizationId: number, settings: Partial<KeySettings>): Promise<{ id: string; key: string }>;
  import(organizationId: number, dataset: object): Promise<{ events: Record<string, number> }>;
}

/** A test needs what this run cannot do: it is skipped, and not failed (left-out.environment.ts). */
class LeftOut extends Error {
  override name = 'LeftOut';
}

/** as the global set-up built it */
const OPERATOR = join(__dirname, '../../../dist/src/main.js');

/** How the operator's command line is called. */
export const operatorCommand = ({ E2E_OPERATOR } = process.env): string[] =>
  E2E_OPERATOR ? E2E_OPERATOR.split(' ') : [process.execPath, OPERATOR];

/** The result of one of its commands. */
export async function runOperator<T>(args: string[], input = ''): Promise<T> {
  const [program = '', ...first] = operatorCommand();
  const child = promisify(execFile)(program, [...first, ...args, '--json'], { maxBuffer: 64 << 20 });
  child.child.stdin?.on('error', () => undefined); // a command that is refused does not read it
  child.child.stdin?.end(input);
  return JSON.parse((await child).stdout) as T;
}

/** What a run made, and must take away again: each organization is a line of this file. */
export const CREATED_ORGANIZATIONS_FILE = 'LANYARD_TEST_MADE';

/** The name of the run's organizations, by which no other one can be deleted. */
export const nameOfRun = (file: string): string => `Lanyard e2e ${file.replace(/^.*-/, '')}`;

/** The operator of a deployment, for a suite. */
export const operatorOf = (baseUrl: string): DeploymentOperator =>
  process.env.E2E_KEY ? keyHolder(baseUrl, process.env.E2E_KEY) : commandLine();

function commandLine(): DeploymentOperator {
  const file = process.env[CREATED_ORGANIZATIONS_FILE] ?? '';
  return {
    createOrganization: async () => {
      const made = await runOperator<{ id: number }>(['organizations', 'create', '--name', nameOfRun(file)]);
      appendFileSync(file, `${made.id}\n`);
      return made;
    },
    issueKey: async (organizationId, { label, maxTokens, refillRate, expiresAt }) => {
      const hasExpired = expiresAt && expiresAt <= new Date();
      const issued = await runOperator<{ id: string; key: string }>([
        'keys',
        'issue',
        '--organization',
        String(organizationId),
        ...(label ? ['--label', label] : []),
        ...(maxTokens ? ['--max-tokens', String(maxTokens)] : []),
        ...(refillRate ? ['--refill-rate', String(refillRate)] : []),
        ...(expiresAt && !hasExpired ? ['--expires-at', expiresAt.toISOString()] : []),
      ]);
      // The operator issues no key that would never be of use; one that is rotated expires at once.
      if (hasExpired) await runOperator(['keys', 'rotate', issued.id]);
      return issued;
    },
    import: (organizationId, dataset) => {
      if (process.env.E2E_IMPORT === 'off') throw new LeftOut('needs an import');
      return runOperator(['import', '-', '--organization', String(organizationId)], JSON.stringify(dataset));
    },
  };
}

/** Somebody who has one key, and no operator: a suite gets the key's organization, emptied, and no other one. */
function keyHolder(baseUrl: string, key: string): DeploymentOperator {
  let [organizations, keys] = [0, 0];
  return {
    createOrganization: async () => {
      if (organizations++ > 0) throw new LeftOut('needs a second organization');
      await emptyOrganization(baseUrl, key);
      return { id: 0 };
    },
    issueKey: async (_, { maxTokens, refillRate, expiresAt, label }) => {
      const isOrdinary =
        maxTokens === GENEROUS_LIMITS.maxTokens && refillRate === GENEROUS_LIMITS.refillRate && !expiresAt && !label;
      if (keys++ > 0 || !isOrdinary) throw new LeftOut('needs a key of its own');
      return { id: '', key };
    },
    import: () => Promise.reject(new LeftOut('needs an import')),
  };
}

/** What an organization has that its key can delete: leads, events and bookmarks. */
const OWN = [
  ['leads', '/leads', ''],
  ['events', '/events', ''],
  ['industryEvents', '/industryEvents/bookmarks', '/bookmark'],
] as const;

export async function emptyOrganization(baseUrl: string, key: string): Promise<void> {
  const sendRequest = (method: string, path: string) =>
    fetch(baseUrl + path, { method, headers: { 'x-api-key': key } });
  for (const [list, path, end] of OWN) {
    for (let ids: unknown[] = [0]; ids.length > 0;) {
      const { results } = (await (await sendRequest('GET', path)).json()) as {
        results: Record<string, { id: string }[]>;
      };
      ids = results[list]?.map(({ id }) => id) ?? [];
      for (const id of ids) await sendRequest('DELETE', `/${list}/${String(id)}${end}`);
    }
  }
}
