import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorRow, ERROR_ROWS } from '../../src/errors/error-table';
import * as SQL_STATES from '../../src/errors/sql-state-codes';

const SRC = join(__dirname, '../../src');
const states = [...new Set(Object.values(SQL_STATES).flat())];
const classes = [...new Set(states.map((state) => state.slice(0, 2)))];

describe('the table of errors', () => {
  it('describes every status, once', () => {
    const described = ERROR_ROWS.filter(({ description }) => description).map(({ status }) => status);
    expect(described).toEqual([...new Set(ERROR_ROWS.map(({ status }) => status))]);
  });

  it('has one row at most for an exception, for an SQLSTATE, and for any other error of a status', () => {
    const keysOf = ({ status, type, sqlStates = [] }: ErrorRow): string[] => {
      const keys = [...(type ? [type.name] : []), ...sqlStates];
      return keys.length > 0 ? keys : [String(status)];
    };
    const keys = ERROR_ROWS.flatMap(keysOf);
    expect(keys).toEqual([...new Set(keys)]);
  });

  it('looks for a special exception before the one that it extends', () => {
    const types = ERROR_ROWS.flatMap(({ type }) => type ?? []);
    const tooLate = types.filter((type, at) => types.slice(0, at).some((other) => type.prototype instanceof other));
    expect(tooLate).toEqual([]);
  });
});

describe('an SQLSTATE', () => {
  /** The files of src that may not spell one: migrations are as they were released. */
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/^errors\/|\/migrations\//.test(file))
    .map((file): [string, string] => [file, readFileSync(join(SRC, file), 'utf8')]);

  it('is five characters, or the beginning of some', () => {
    for (const state of states) expect(state).toMatch(/^[0-9][0-9A-Z]{1,4}$/);
  });

  it('stands in no other file', () => {
    const literal = new RegExp(`['"\`](${classes.join('|')})[0-9A-Z]{3}['"\`]|/\\^\\(?(${classes.join('|')}|2\\[)`);
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter(([, text]) => literal.test(text)).map(([file]) => file)).toEqual([]);
  });
});
