import { randomUUID } from 'node:crypto';
import { operatorProgram } from '../src/operator/commands';
import { reportOf } from '../src/operator/report';
import type { Outcome } from './support/operator';

/** What comes before the database, within this process: a process of its own takes a second. */
async function parse(args: string[]): Promise<Outcome> {
  const outcome: Outcome = { status: 0, stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    jest.spyOn(process[stream], 'write').mockImplementation((text) => {
      outcome[stream] += String(text);
      return true;
    });
  }
  try {
    await operatorProgram().parseAsync(args, { from: 'user' });
  } catch (error) {
    const { message = '', status } = reportOf(error);
    return { ...outcome, status, stderr: outcome.stderr + message };
  } finally {
    jest.restoreAllMocks();
  }
  return outcome;
}

describe('the usage of the command line', () => {
  describe('is refused with status 2 for', () => {
    const issueFor = ['keys', 'issue', '--organization', '1'];

    it.each([
      ['no command', [], 'Usage: '],
      ['an unknown command', ['keys', 'destroy'], "unknown command 'destroy'"],
      ['an unknown option', ['organizations', 'list', '--all'], "unknown option '--all'"],
      ['a missing option', ['keys', 'issue'], "required option '--organization <ID>' not specified"],
      ['a missing argument', ['keys', 'revoke'], "missing required argument 'KEYID'"],
      ['a blank name', ['organizations', 'create', '--name', ' '], '--name must be'],
      ['a long label', [...issueFor, '--label', 'x'.repeat(256)], '--label must be'],
      ['an organization that is no number', ['keys', 'list', '--organization', '1e3'], '--organization must be'],
      ['tokens that are no number', [...issueFor, '--max-tokens', '0x10'], 'maxTokens must be'],
      ['tokens out of bounds', [...issueFor, '--max-tokens', '0'], 'maxTokens must be'],
      ['a rate with four decimals', [...issueFor, '--refill-rate', '0.0625'], 'refillRate must be'],
      ['a day that is none', [...issueFor, '--expires-at', '2027-02-30'], '--expires-at must be'],
      ['no limit', ['keys', 'set-limits', randomUUID()], '--max-tokens or --refill-rate must be given'],
      ['a negative overlap', ['keys', 'rotate', randomUUID(), '--overlap', '-1'], '--overlap must be'],
      ['two forms', ['export', '--organization', '1', '--ndjson', '--json'], 'give one of them'],
    ])('%s', async (_, args, reason) => {
      const { status, stdout, stderr } = await parse(args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toContain(reason);
    });
  });

  it.each([[[]], [['organizations', 'create']], [['keys']], [['keys', 'issue']], [['import']], [['export']]])(
    'is explained: %j --help',
    async (command: string[]) => {
      const { status, stdout, stderr } = await parse([...command, '--help']);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: npm run --silent operator -- /);
      expect(stdout).toMatch(/\nExamples/);
    },
  );
});
