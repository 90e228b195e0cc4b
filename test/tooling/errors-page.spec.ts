import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_ROWS } from '../../src/errors/error-table';
import { errorText } from '../../src/errors/error-response';
import { FAULT_REASONS } from '../../src/errors/faults';

const PAGE = readFileSync(join(__dirname, '../../docs/errors.md'), 'utf8');

/** The cells of the rows of a table under a heading. */
const rowsOf = (heading: string): string[][] =>
  (PAGE.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('|--'))
    .slice(1)
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));

describe('docs/errors.md', () => {
  it('has every status and every text of the table of errors', () => {
    const documented = rowsOf('Statuses').map(([status = '', text = '']) => `${status} ${text}`);
    const missing = ERROR_ROWS.filter(({ status, text = errorText(status) }) => {
      return !documented.some((row) => row.includes(String(status)) && row.includes(`\`${text}\``));
    });
    expect(missing).toEqual([]);
  });

  it('has every reason with its meaning, and no other', () => {
    const documented = rowsOf('Reasons').map(([reason = '', meaning = '']) => [reason.replaceAll('`', ''), meaning]);
    expect(documented).toEqual(Object.entries(FAULT_REASONS));
  });
});
