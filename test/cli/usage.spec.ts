import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path, { join, win32 } from 'node:path';
import { version } from '../../package.json';
import { operatorProgram } from '../../src/operator/commands';
import { commandNameFor } from '../../src/operator/command-name';
import { formatPairs, formatTable } from '../../src/operator/terminal/table';
import { Operator } from '../support/operator';

const operator = new Operator({});

const SUBCOMMANDS_BY_COMMAND = {
  organizations: ['create', 'list', 'rename', 'delete'],
  keys: ['issue', 'list', 'check', 'set-limits', 'rotate', 'revoke'],
  persons: ['find', 'erase'],
  imports: ['list', 'undo'],
  webhooks: ['create', 'list', 'test', 'rotate-secret', 'disable', 'enable', 'resume', 'delete'],
};
const SUBCOMMANDS = Object.entries(SUBCOMMANDS_BY_COMMAND).flatMap(([command, subcommands]) =>
  subcommands.map((subcommand) => [command, subcommand]),
);

describe('the usage of the command line', () => {
  it('lists every command with its summary, whether the command is loaded or not', async () => {
    const summaries = async (...args: string[][]) =>
      (await operatorProgram({}, undefined, ...args)).commands.map((command) => [command.name(), command.summary()]);
    const all = await summaries();
    expect(all.length).toBeGreaterThan(15);
    expect(await summaries(['--help'])).toEqual(all);
    expect(await summaries(['keys', 'list'])).toEqual(all);
  });

  describe('is rejected with status 2 for', () => {
    const importCsv = ['import', '-', '--organization', '1', '--csv', 'leads'];
    const exportAll = ['export', '--organization', '1'];
    const exportCsv = ['export', '--organization', '1', '--csv', 'leads'];
    const issueFor = ['keys', 'issue', '--organization', '1'];
    const importAny = ['import', '-', '--organization', '1'];

    it.each<[string, string[], string]>([
      ['an unknown command', ['keys', 'destroy'], "unknown command 'destroy'"],
      ['an unknown option', ['organizations', 'list', '--all'], "unknown option '--all'"],
      ['an argument of start', ['start', '3000'], 'too many arguments'],
      [
        'a delete without the name',
        ['organizations', 'delete', '1'],
        "required option '--confirm <NAME>' not specified",
      ],
      ['a missing option', ['organizations', 'create'], "required option '--name <NAME>' not specified"],
      ['a missing argument', ['keys', 'revoke'], "missing required argument 'KEYID'"],
      ['a key in the place of its id', ['keys', 'revoke', 'lan_secret'], 'KEYID must be the ID of a key'],
      ['a blank name', ['organizations', 'create', '--name', ' '], '--name must have'],
      ['a name that no one sees', ['organizations', 'create', '--name', '\u200b'], '--name must have'],
      ['an option that controls the terminal', ['keys', 'list', '--\x1b[31m'], "unknown option '--\\u001b[31m'"],
      ['a long label', [...issueFor, '--label', 'x'.repeat(256)], '--label must have'],
      ['a name that is not UTF-8', ['organizations', 'create', '--name', 'M\ufffdller'], '--name must be UTF-8, '],
      [
        'an organization that is no number',
        ['keys', 'list', '--organization', '1e3'],
        '--organization must be the ID of an organization, which is a number',
      ],
      ['tokens that are no number', [...issueFor, '--max-tokens', '0x10'], '--max-tokens must be'],
      ['a rate with four decimals', [...issueFor, '--refill-rate', '0.0625'], '--refill-rate must be'],
      ['a scope that is none', [...issueFor, '--scope', 'write'], '--scope must be one of all, read, capture'],
      ['faults that are none', [...issueFor, '--simulate', 'status=200'], '--simulate must be a list of faults'],
      ['an impossible day', [...issueFor, '--expires-at', '2027-02-30'], '--expires-at must be'],
      ['no limit', ['keys', 'set-limits', randomUUID()], 'Set --max-tokens, --refill-rate or both.'],
      ['a negative overlap', ['keys', 'rotate', randomUUID(), '--overlap', '-1'], '--overlap must be'],
      ['an overlap of weeks', ['keys', 'rotate', randomUUID(), '--overlap', '2w'], '--overlap must be a duration such'],
      ['a long overlap', ['keys', 'rotate', randomUUID(), '--overlap', '999999999d'], '--overlap must be a duration'],
      ['NDJSON as one JSON value', [...exportAll, '--ndjson', '--json'], '--json with --ndjson needs --output'],
      ['the same to -', [...exportAll, '--ndjson', '--json', '--output', '-'], '--json with --ndjson needs --output'],
      ['an output without a name', [...exportAll, '--output', ''], '--output must be a file name, or -'],
      ['CSV as one JSON value', [...exportCsv, '--json'], '--json with --csv needs --output'],
      ['CSV as NDJSON', [...exportCsv, '--ndjson'], 'cannot be used with'],
      ['a section that is no table', [...exportAll, '--csv', 'events'], 'Allowed choices are leads'],
      ['a column without a field', [...exportCsv, '--map', 'E-mail'], '--map must be COLUMN=FIELD'],
      [
        'a field that cannot be exported',
        [...exportCsv, '--map', 'A=name'],
        '--map "A=name": leads have no field called name that can be exported.',
      ],
      ['a long delimiter', [...exportCsv, '--delimiter', ';;'], '--delimiter must be one character, or tab'],
      ['an option of CSV without it', [...importAny, '--match', 'email'], '--match needs --csv or --mapping'],
      ['a match that is none', [...importCsv, '--match', 'phone'], '--match must be one of id, email, remoteId'],
      [
        'a mapping that is not there',
        [...importAny, '--mapping', '/none.json'],
        'Cannot read /none.json: no such file',
      ],
      ...Object.entries({
        '--map A=email': '"columns"',
        '--delimiter ;': '"delimiter"',
        '--raw': '"raw"',
        '--skip-lines 2': '"headerLine"',
        '--skip-rows 7': '"skipLines"',
        '--only A=b': '"only" of a column',
        '--ignore-unknown': '"otherColumns"',
        '--time-zone UTC': '"timeZone"',
        '--date-format DMY': '"format" of a column',
        '--encoding latin1': '"encoding"',
      }).map(([option, key]): [string, string[], string] => [
        `${option}, which the mapping has replaced`,
        [...importCsv, ...option.split(' ')],
        `is not an option of import: use ${key} in the file of --mapping`,
      ]),
      ['a file of former records without a name', [...importAny, '--before', ''], '--before must be a file name'],
      ['an import that is no ID', ['imports', 'undo', 'leads.csv'], 'IMPORTID must be the ID of an import'],
      ['a column without CSV', [...exportAll, '--map', 'A=email'], '--map needs --csv'],
      ['a delimiter without CSV', [...exportAll, '--delimiter', ';'], '--delimiter needs --csv'],
      ['a byte order mark without CSV', [...exportAll, '--bom'], '--bom needs --csv'],
      ['a feed without end as one value', ['changes', '--organization', '1', '--follow', '--json'], 'Use one of them.'],
      ['leads that are no number', ['seed', '--organization', '1', '--leads', '1e3'], '--leads must be'],
      ['too many leads', ['seed', '--organization', '1', '--leads', '10000001'], '--leads must be'],
    ])('%s', async (_, args, reason) => {
      const { status, stdout, stderr } = await operator.run(args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toContain(reason);
      expect(stderr).not.toContain('secret');
      expect(stderr).toMatch(/^error: .*\. See ".+ --help"\.\n$/);
    });
  });

  it.each(
    [
      [],
      ['start'],
      ['organizations'],
      ['keys'],
      ...SUBCOMMANDS,
      ['industry-events'],
      ['industry-events', 'delete'],
      ['import'],
      ['imports'],
      ['export'],
      ['changes'],
      ['seed'],
      ['sandbox'],
      ['backup'],
      ['restore'],
      ['status'],
      ['check'],
      ['config'],
      ['migrate'],
      ['openapi'],
    ].map((command) => [command]),
  )('is explained with an example: %j --help', async (command: string[]) => {
    const { status, stdout, stderr } = await operator.run([...command, '--help']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: npm run --silent operator -- /);
    expect(stdout).toMatch(new RegExp(`\\nExample.*:\\n  \\$ npm run --silent operator -- ${command.join(' ')}`));
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('prints the version', async () => {
    expect(await operator.run(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('prints its help when npm starts it without a command', () => {
    const [node = '', ...args] = Operator.command([]);
    const env = { ...process.env, npm_lifecycle_event: 'operator' };
    const { status, stdout, stderr } = spawnSync(node, args, { env, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: /);
  });

  it('names the program the way it was started', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lanyard-npx-'));
    const bin = join(folder, 'node_modules/.bin/lanyard');
    mkdirSync(join(folder, 'node_modules'));
    const npx = { npm_lifecycle_event: 'npx' };
    expect(commandNameFor(bin, npx)).toBe('npx lanyard');
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ _npx: { packages: ['/srv/lanyard-0.1.0.tgz'] } }));
    expect(commandNameFor(bin, npx)).toBe('npx /srv/lanyard-0.1.0.tgz');
    expect(commandNameFor('/usr/local/bin/lanyard', {})).toBe('lanyard');
    expect(commandNameFor('/srv/node_modules/.bin/lanyard', { PATH: '/usr/bin' })).toBe(
      '/srv/node_modules/.bin/lanyard',
    );
    expect(commandNameFor('/app/dist/src/main.js', { npm_lifecycle_event: 'start' })).toBe(
      'npm run --silent operator --',
    );
    expect(commandNameFor('/app/dist/src/main.js', {}, '/app')).toBe('node dist/src/main.js');
    expect(commandNameFor('/app/dist/src/main.js', {}, '/app/data')).toBe('node ../dist/src/main.js');
    rmSync(folder, { recursive: true });
  });

  it('has the paths of Windows there', () => {
    jest.spyOn(path, 'basename').mockImplementation(win32.basename);
    jest.spyOn(path, 'relative').mockImplementation(win32.relative);
    const named = (script: string): string => commandNameFor(script, {}, String.raw`C:\apps`);
    expect(named(String.raw`C:\apps\lanyard\dist\src\main.js`)).toBe(String.raw`node lanyard\dist\src\main.js`);
    expect(named(String.raw`D:\lanyard\dist\src\main.js`)).toBe(String.raw`node D:\lanyard\dist\src\main.js`);
    jest.restoreAllMocks();
  });
});

describe('text for a terminal', () => {
  describe('a table', () => {
    const rows = [
      ['a', 1, null],
      ['Łódź', 20, 'last'],
    ];
    const head = ['name', 'keys', 'note'];

    it('separates columns by two blanks, and has no trailing blanks', () => {
      const lines = ['name  keys  note', 'a     1', 'Łódź  20    last'];
      expect(formatTable(head, rows, 80)).toBe(lines.join('\n'));
    });

    it('shows each row as a block if the terminal is too narrow', () => {
      const lines = ['name  a', 'keys  1', 'note', '', 'name  Łódź', 'keys  20', 'note  last'];
      expect(formatTable(head, rows, 15)).toBe(lines.join('\n'));
    });

    it('aligns names and values', () => {
      const text = formatPairs([
        ['Keys', '3 active'],
        ['Migrations', 4],
      ]);
      expect(text).toBe('Keys        3 active\nMigrations  4');
    });
  });
});

it('the OpenAPI document is printed as it is checked in, without a database', async () => {
  const { status, stdout } = await operator.run(['openapi']);
  expect(status).toBe(0);
  expect(stdout).toBe(readFileSync(join(__dirname, '../../openapi.json'), 'utf8'));
  expect(JSON.parse((await operator.run(['openapi', '--json'])).stdout)).toEqual(JSON.parse(stdout));
});
