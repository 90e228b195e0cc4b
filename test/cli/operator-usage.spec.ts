import { randomUUID } from 'node:crypto';
import { operatorProgram } from '../../src/cli/commands';
import { reportOf } from '../../src/cli/terminal/report';
import type { Outcome } from '../support/operator';

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
  const { FORCE_COLOR } = process.env;
  // jest has its own processes told that they may show colours
  beforeAll(() => delete process.env.FORCE_COLOR);
  afterAll(() => void (FORCE_COLOR !== undefined && (process.env.FORCE_COLOR = FORCE_COLOR)));

  describe('is refused with status 2 for', () => {
    const importCsv = ['import', '-', '--organization', '1', '--csv', 'leads'];
    const exportAll = ['export', '--organization', '1'];
    const exportCsv = ['export', '--organization', '1', '--csv', 'leads'];
    const issueFor = ['keys', 'issue', '--organization', '1'];

    it.each([
      ['no command', [], 'Usage: '],
      ['an unknown command', ['keys', 'destroy'], "unknown command 'destroy'"],
      ['an unknown option', ['organizations', 'list', '--all'], "unknown option '--all'"],
      ['a missing option', ['keys', 'issue'], "required option '--organization <ID>' not specified"],
      ['a missing argument', ['keys', 'revoke'], "missing required argument 'KEYID'"],
      ['a blank name', ['organizations', 'create', '--name', ' '], '--name must be'],
      ['a long label', [...issueFor, '--label', 'x'.repeat(256)], '--label must be'],
      ['a name that is no UTF-8', ['organizations', 'create', '--name', 'M\ufffdller'], '--name must be UTF-8: '],
      ['a label that is no UTF-8', [...issueFor, '--label', 'M\ufffdller'], '--label must be UTF-8: '],
      ['an organization that is no number', ['keys', 'list', '--organization', '1e3'], '--organization must be'],
      ['tokens that are no number', [...issueFor, '--max-tokens', '0x10'], 'maxTokens must be'],
      ['tokens out of bounds', [...issueFor, '--max-tokens', '0'], 'maxTokens must be'],
      ['a rate with four decimals', [...issueFor, '--refill-rate', '0.0625'], 'refillRate must be'],
      ['a day that is none', [...issueFor, '--expires-at', '2027-02-30'], '--expires-at must be'],
      ['no limit', ['keys', 'set-limits', randomUUID()], '--max-tokens or --refill-rate must be given'],
      ['a negative overlap', ['keys', 'rotate', randomUUID(), '--overlap', '-1'], '--overlap must be'],
      ['two forms', ['export', '--organization', '1', '--ndjson', '--json'], 'give one of them'],
      [
        'NDJSON as JSON to standard output by its name',
        [...exportAll, '--ndjson', '--json', '--output', '-'],
        'give one',
      ],
      ['an output without a name', [...exportAll, '--output', ''], '--output must be the name of a file, or -'],
      ['CSV as JSON', ['export', '--organization', '1', '--csv', 'leads', '--json'], 'give one of them'],
      ['CSV as NDJSON', ['export', '--organization', '1', '--csv', 'leads', '--ndjson'], 'cannot be used with'],
      ['a section that is no table', ['export', '--organization', '1', '--csv', 'events'], 'Allowed choices are leads'],
      ['a mapping that is none', [...importCsv, '--map', 'E-mail'], '--map must be COLUMN=FIELD'],
      ['a field that is none', [...importCsv, '--map', 'A=jobTitel'], 'leads have no field jobTitel (jobTitle?)'],
      ['a field that nothing is like', [...importCsv, '--map', 'A=xyz'], 'leads have no field xyz\n'],
      ['a field that cannot be written', [...exportCsv, '--map', 'A=phone'], 'phone cannot be written; leads have id,'],
      ['a column for nothing', [...exportCsv, '--map', 'A='], 'nothing cannot be written'],
      ['a delimiter that is none', [...importCsv, '--delimiter', ';;'], '--delimiter must be one character, or tab'],
      ['a mapping without CSV', ['import', '-', '--organization', '1', '--map', 'A=email'], '--map is about CSV'],
      [
        'a delimiter without CSV',
        ['import', '-', '--organization', '1', '--delimiter', ';'],
        '--delimiter is about CSV',
      ],
      ['a byte order mark without CSV', ['export', '--organization', '1', '--bom'], '--bom is about CSV'],
      ['leads that are no number', ['seed', '--organization', '1', '--leads', '1e3'], '--leads must be'],
      ['a seed that is too large', ['seed', '--organization', '1', '--seed', '2147483648'], '--seed must be'],
      ['a day that is none for a seed', ['seed', '--organization', '1', '--until', '2026-02-30'], '--until must be'],
      ['a shell that is unknown', ['completion', 'csh'], 'Allowed choices are bash, zsh, fish'],
      ['a name that is no command', ['completion', 'bash', '--name', 'a b'], '--name must be'],
    ])('%s', async (_, args, reason) => {
      const { status, stdout, stderr } = await parse(args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toContain(reason);
    });
  });

  it.each([
    ...[[[]], [['organizations', 'create']], [['keys']], [['keys', 'issue']], [['import']], [['export']]],
    ...[[['status']], [['seed']], [['completion']]],
  ])('is explained: %j --help', async (command: string[]) => {
    const { status, stdout, stderr } = await parse([...command, '--help']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: npm run --silent operator -- /);
    expect(stdout).toMatch(/\nExamples/);
  });
});
