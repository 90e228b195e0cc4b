import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { CsvService } from '../../src/exchange/csv/csv.service';
import { DATASETS } from '../support/contexts';
import { install, type Installation, waitForOutcome } from '../support/operator';

const CSV = new CsvService(DATASETS);
const LIMIT_MS = 60_000;

/** What is long in a file must not hold the process: quadratic time for these files is minutes, and more than a test has. */
describe('an import of a file with', () => {
  let installation: Installation;
  let organizationId: number;

  beforeAll(async () => {
    installation = await install();
    organizationId = (await installation.server.tenant()).organizationId;
  });

  const importing = (input: string, ...options: string[]) =>
    installation.operator.run(['import', '-', '--organization', String(organizationId), ...options], input);
  afterEach(() => rmSync('import.mapping.json', { force: true }));

  /** In a process of its own, because the worker of the suites would keep the memory; it is ended when it does not end. */
  const importingElsewhere = async (parts: string[]) => {
    const child = installation.operator.start(['import', '-', '--organization', String(organizationId)]);
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    child.stdin?.on('error', () => undefined);
    for (const part of parts) child.stdin?.write(part);
    child.stdin?.end();
    const outcome = await waitForOutcome(child);
    clearTimeout(timer);
    expect({ signal: child.signalCode, isKilled: outcome.status === 128 + constants.signals.SIGKILL }).toEqual({
      signal: null,
      isKilled: false,
    });
    return outcome;
  };

  it('64 MiB of blank lines before its records', async () => {
    const blank = '\n'.repeat(65_536);
    const record = JSON.stringify({ section: 'nothing', record: {} });
    const { status, stderr } = await importingElsewhere([
      ...Array<string>(1024).fill(blank),
      `${record}\n`,
      `${record}\n`,
    ]);
    expect({ status, first: stderr.split('\n', 1)[0] }).toMatchObject({
      status: 1,
      first: expect.stringContaining(`line ${1024 * 65_536 + 1}: `) as string,
    });
  }, 90_000);

  it.each(CSV.sections)(
    'long cells of all kinds in every column of %s',
    async (section) => {
      const names = CSV.fields(section).map(({ name }) => name);
      const pumps = [
        ' ',
        '\u00a0',
        '\u0301',
        "'",
        '0',
        'a',
        'E1',
        '=',
        ';',
        'a;',
        ',',
        '.',
        '-',
        '[',
        '[[',
        '{"a":',
        '1;',
        '#',
        '@',
      ];
      const cells = pumps.map((pump) => `"${pump.replaceAll('"', '""').repeat(20_000)}!"`);
      const lines = [names.join(','), ...cells.map((cell) => names.map(() => cell).join(','))];
      const { status, stderr } = await importing(lines.join('\n'), '--csv', section);
      expect({ status, lastLine: stderr.trimEnd().split('\n').at(-1) }).toEqual({
        status: 1,
        lastLine: expect.stringMatching(/^line \d+ and \d+ more, column |^and [\d,]+ more$/) as string,
      });
    },
    90_000,
  );
});
