import { MAX_ROW_LENGTH } from '../../src/exchange/datasets/open';
import { Random } from '../prove/support/random';
import { CsvParser, type CsvRow } from '../../src/exchange/csv/csv-parser';
import { isPlainEntry, joinEntries, splitEntries } from '../../src/exchange/csv/list-cells';

/** What a random text is made of, so that most texts are broken. */
const PIECES = ['"', '"', '""', ',', ',', '\n', '\r', '\r\n', ' ', '\t', '=', '="', 'a', 'b'];

/** The rows of a text that comes in parts. */
function rowsOf(...parts: string[]): CsvRow[] {
  const parser = new CsvParser(',');
  const rows: CsvRow[] = [];
  for (const part of parts) {
    parser.push(part);
    rows.push(...parser.rows(false));
  }
  parser.push('');
  rows.push(...parser.rows(true));
  return rows;
}

const cellsOf = (text: string): string[][] => rowsOf(text).map(({ cells }) => cells);

describe('the parser of CSV', () => {
  it.each<[string, string, string[][]]>([
    [
      'plain cells',
      'a,b\nc,\n,\n',
      [
        ['a', 'b'],
        ['c', ''],
      ],
    ],
    [
      'quoted cells',
      '"a,""b""","c\nd"\r\n"",e',
      [
        ['a,"b"', 'c\nd'],
        ['', 'e'],
      ],
    ],
    ['line ends of all kinds', 'a\r\nb\rc\nd', [['a'], ['b'], ['c'], ['d']]],
    ['blanks around quotes', 'a, "b,c" ,"d"\n', [['a', 'b,c', 'd']]],
    ['formulas that keep digits', '="0441","=""0441""",x="1"\n', [['="0441"', '="0441"', 'x="1"']]],
    ['marks within cells that do not begin with one', '5" pipe,Ada "A" Rowe\n', [['5" pipe', 'Ada "A" Rowe']]],
  ])('reads %s', (_, text, cells) => {
    expect(cellsOf(text)).toEqual(cells);
  });

  it('reads the same wherever a part of the file ends', () => {
    const text = 'a,"b ""x"" \r\ny",c\r\n\r\n="0441", "d;e" ,f\rg,h,"i"\n"j",k,"unclosed\nl,m,n';
    const whole = rowsOf(text);
    expect(whole.map(({ line }) => line)).toEqual([1, 4, 5, 6, 7]);
    for (let first = 0; first <= text.length; first++) {
      const second = Math.min(text.length, first + 3);
      expect(rowsOf(text.slice(0, first), text.slice(first, second), text.slice(second))).toEqual(whole);
    }
  });

  it('reads any text the same wherever it is cut, and so it counts the lines', () => {
    const random = new Random(4);
    for (let n = 0; n < 30_000; n++) {
      const text = Array.from({ length: 1 + random.below(24) }, () => random.pick(PIECES)).join('');
      const cuts = [random.below(text.length + 1), random.below(text.length + 1)].sort((one, other) => one - other);
      const [first = 0, second = 0] = cuts;
      const parts = [text.slice(0, first), text.slice(first, second), text.slice(second)];
      expect({ text, parts, rows: rowsOf(...parts) }).toEqual({ text, parts, rows: rowsOf(text) });
    }
  });

  it('does not take the end of a part for the end of a line on which a row is broken', () => {
    const [, broken, ...others] = rowsOf('a,b\n"x" y,', '1,z\nc,d\n');
    expect(broken).toMatchObject({ line: 2, cells: ['"x" y', '1', 'z'] });
    expect(others).toEqual([{ line: 3, nextLine: 4, cells: ['c', 'd'] }]);
  });

  it.each(['"a\nb",c,"x"y\nd,e,f', '"a\nb","c","x"y\nd,e,f'])('%j goes on with the line after its first', (text) => {
    expect(rowsOf(text).map(({ line, cells }) => [line, cells[0]])).toEqual([
      [1, '"a'],
      [2, 'b"'],
      [3, 'd'],
    ]);
  });

  it.each([
    ['a cell', `"${'x'.repeat(MAX_ROW_LENGTH)}"`],
    ['a row of several cells', `"${'x'.repeat(MAX_ROW_LENGTH / 2)}",`.repeat(2)],
  ])('takes %s over the limit for an open quotation mark, in one part and in many', (_, long) => {
    const text = `a\n"b\n${long}\n`;
    const parts = text.match(/[^]{1,2000000}/g) ?? [];
    const summary = (read: () => unknown[]): string => {
      try {
        return JSON.stringify(read()).slice(0, 200);
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(summary(() => rowsOf(...parts))).toBe(summary(() => rowsOf(text)));
  });

  it('goes on with the next line after a broken row, and names the line', () => {
    const rows = rowsOf('a,b\n"x" y,1\nc,"d\ne,f\n"g",h\n');
    expect(rows.map(({ line, problem }) => [line, problem?.split('.')[0]])).toEqual([
      [1, undefined],
      [2, 'Stray quotation mark'],
      [3, 'Stray quotation mark'],
      [4, undefined],
      [5, undefined],
    ]);
  });
});

describe('a list in a cell', () => {
  it.each([
    ['a; b;;c', ['a', 'b', 'c']],
    ['"a;b"; c', ['a;b', 'c']],
    ['"a" b; c', ['"a" b', 'c']],
    ['"say ""hi"""', ['say "hi"']],
    ['* one ::: two', ['* one', 'two']],
    [';', []],
  ])('%s is split', (cell, texts) => {
    expect(splitEntries(cell).map(({ text }) => text)).toEqual(texts);
  });

  it('is read back as it was, whatever its texts are', () => {
    const texts = ['', ' a ', 'b;c', '"', '""', '"d"', '[1]', 'e:::f', 'g\nh', ';', 'plain'];
    for (const text of texts) {
      const lists = texts.map((other) => [text, other]);
      for (const list of [...lists, [text]]) {
        expect(splitEntries(joinEntries(list)).map((entry) => entry.text)).toEqual(list);
      }
    }
    expect(texts.filter((text) => isPlainEntry(text))).toEqual(['g\nh', 'plain']);
  });
});
