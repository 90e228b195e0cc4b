import { CsvParser, type CsvRow } from '../../src/csv/csv-parser';
import { isPlainEntry, joinEntries, splitEntries } from '../../src/csv/lists';

/** The rows of a text that comes in parts. */
function rowsOf(...parts: string[]): Omit<CsvRow, 'start'>[] {
  const parser = new CsvParser(',', 1);
  const rows: CsvRow[] = [];
  for (const part of parts) {
    parser.push(part);
    rows.push(...parser.rows(false));
  }
  parser.push('');
  rows.push(...parser.rows(true));
  return rows.map(({ start: _, ...row }) => row);
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
