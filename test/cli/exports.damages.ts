import { encode } from 'iconv-lite';
import { CsvParser } from '../../src/exchange/csv/csv-parser';

/** The rows of an export, apart. */
export interface ExportRows {
  delimiter: string;
  preamble: string[][];
  header: string[];
  records: string[][];
  footer: string[][];
}

/** Where the header of each file is that has something before it, as a person counts rows. */
const ROWS_BEFORE_HEADER: Record<string, number> = { 'badge-scanner.csv': 2, 'linkedin-connections.csv': 2 };
const DELIMITERS: Record<string, string> = { 'excel-csv-utf8.csv': ';', 'excel-unicode-text.txt': '\t' };
/** Every file has as many records. */
export const RECORDS = 6;

export function rowsOf(file: string, bytes: Buffer): ExportRows {
  const text = bytes.toString(file.endsWith('.txt') ? 'utf16le' : 'utf8').replace(/^\ufeff/, '');
  const delimiter = DELIMITERS[file] ?? ',';
  const parser = new CsvParser(delimiter, 1);
  parser.push(text);
  const rows = [...parser.rows(true)].map(({ cells }) => cells);
  const before = ROWS_BEFORE_HEADER[file] ?? 0;
  const end = before + 1 + RECORDS;
  return {
    delimiter,
    preamble: rows.slice(0, before),
    header: rows[before] ?? [],
    records: rows.slice(before + 1, end),
    footer: rows.slice(end),
  };
}

const quoteCell = (cell: string, delimiter: string): string =>
  cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

const lineOf = (cells: string[], delimiter: string): string =>
  cells.map((cell) => quoteCell(cell, delimiter)).join(delimiter);

/** The text of a file. */
export function render({ delimiter, preamble, header, records, footer }: ExportRows, lineEnd = '\n'): string {
  const rows = [...preamble, header, ...records, ...footer];
  return rows.map((cells) => lineOf(cells, delimiter) + lineEnd).join('');
}

/** A way in which a file is damaged between the program that wrote it and the import. */
export interface Damage {
  name: string;
  apply: (rows: ExportRows) => string | Buffer;
  /** Indexes of the people of whom something is lost by the damage itself; by default none. */
  destroys?: (rows: ExportRows) => number[];
  /** How many leads there are afterwards; by default one for each record. */
  count?: (rows: ExportRows) => number;
}

const withRecords = (rows: ExportRows, change: (cells: string[], index: number) => string[]): ExportRows => ({
  ...rows,
  records: rows.records.map(change),
});

/** The index of the first column whose name matches and that has a value in a record. */
const columnOf = ({ header, records }: ExportRows, names: RegExp, record: number): number =>
  header.findIndex((name, index) => names.test(name) && (records[record]?.[index] ?? '') !== '');

const DATE = /^(order date|scan date|create date|created time|connected on|person created|registration date)$/i;
const PHONE = /phone(?! 1 - label)|telefon|mobil|^cell$/i;
const EMAIL = /^(attendee email|email|email address|e-mail|email - work|e-mail 1 - value)$/i;
const ID = /^(record id|lead id|id)$/i;

/** Puts a value into the first matching cell of the first record; the file stays as it is if there is none. */
function replaceFirst(rows: ExportRows, names: RegExp, replace: (value: string) => string): ExportRows {
  const column = columnOf(rows, names, 0);
  return withRecords(rows, (cells, index) =>
    cells.map((cell, each) => (index === 0 && each === column ? replace(cell) : cell)),
  );
}

const firstIf = (rows: ExportRows, names: RegExp): number[] => (columnOf(rows, names, 0) < 0 ? [] : [0]);

export const DAMAGES: Damage[] = [
  // The last one has a name that windows-1252 lacks.
  { name: 'windows-1252', apply: (rows) => encode(render(rows), 'windows-1252'), destroys: () => [RECORDS - 1] },
  { name: 'UTF-16 with a mark', apply: (rows) => Buffer.from(`\ufeff${render(rows)}`, 'utf16le') },
  { name: 'UTF-16 without a mark', apply: (rows) => Buffer.from(render(rows), 'utf16le') },
  { name: 'UTF-8 with a mark', apply: (rows) => `\ufeff${render(rows)}` },
  { name: 'semicolons', apply: (rows) => render({ ...rows, delimiter: ';' }) },
  { name: 'tabs', apply: (rows) => render({ ...rows, delimiter: '\t' }) },
  { name: 'pipes', apply: (rows) => render({ ...rows, delimiter: '|' }) },
  { name: 'a first line that names a wrong delimiter', apply: (rows) => `sep=^\n${render(rows)}` },
  { name: 'line ends of old Macs', apply: (rows) => render(rows, '\r') },
  { name: 'line ends of Windows', apply: (rows) => render(rows, '\r\n') },
  {
    name: 'a footer',
    apply: (rows) => render({ ...rows, footer: [...rows.footer, ['Total: 6'], ['Confidential - do not distribute']] }),
  },
  {
    name: 'a preamble',
    apply: (rows) => render({ ...rows, preamble: [['Report of today'], ['Created', '2026-05-06'], ...rows.preamble] }),
  },
  {
    name: 'a repeated header',
    apply: (rows) => render({ ...rows, records: [...rows.records.slice(0, 3), rows.header, ...rows.records.slice(3)] }),
  },
  {
    name: 'a date that is none',
    apply: (rows) => render(replaceFirst(rows, DATE, () => '2026-02-31')),
    destroys: (rows) => firstIf(rows, DATE),
  },
  {
    name: 'dates of another form',
    apply: (rows) => {
      const columns = rows.header.flatMap((name, index) => (DATE.test(name) ? [index] : []));
      const germanDate = (cell: string): string => cell.replace(/^(\d{4})-(\d\d)-(\d\d)/, '$3.$2.$1');
      return render(
        withRecords(rows, (cells) => cells.map((cell, index) => (columns.includes(index) ? germanDate(cell) : cell))),
      );
    },
  },
  {
    name: 'a phone number that a spreadsheet has spoilt',
    apply: (rows) => render(replaceFirst(rows, PHONE, () => '4.42E+11')),
    destroys: (rows) => firstIf(rows, PHONE),
  },
  {
    name: 'phone numbers that a spreadsheet has kept as text',
    apply: (rows) => render(replaceFirst(rows, PHONE, (phone) => `="${phone}"`)),
  },
  {
    name: 'an address with an invisible character within',
    apply: (rows) => render(replaceFirst(rows, EMAIL, (email) => email.replace('@', '\u200b@'))),
    destroys: () => [0],
  },
  {
    name: 'blanks and invisible characters around addresses',
    apply: (rows) => render(replaceFirst(rows, EMAIL, (email) => ` \u200b${email}\u00a0`)),
  },
  {
    name: 'blanks around the names of columns',
    apply: (rows) => render({ ...rows, header: rows.header.map((name) => ` ${name.toUpperCase()}\u00a0`) }),
  },
  {
    name: 'blank lines and rows of delimiters alone',
    apply: (rows) => render(rows).replace(/\n(?=[^"\n]*\n$)/, `\n\n${rows.delimiter.repeat(rows.header.length - 1)}\n`),
  },
  {
    name: 'a row that is there twice',
    apply: (rows) => render({ ...rows, records: [...rows.records, ...rows.records.slice(-1)] }),
    // Without ids nobody can tell a row that was written twice from two people.
    count: ({ header }) => RECORDS + (header.some((name) => ID.test(name)) ? 0 : 1),
  },
  {
    name: 'short rows',
    apply: (rows) =>
      render(withRecords(rows, (cells) => cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1))),
  },
  {
    name: 'surplus delimiters at the ends of rows',
    apply: (rows) => render(withRecords(rows, (cells) => [...cells, '', ''])),
  },
  {
    name: 'a quotation mark that is not closed',
    apply: (rows) => render({ ...rows, footer: [] }).replace(/\n$/, `${rows.delimiter}"\n`),
    destroys: () => [RECORDS - 1],
    count: () => RECORDS - 1,
  },
  {
    name: 'a row that is quoted as a whole',
    apply: (rows) => {
      const [first = [], ...others] = rows.records;
      return render({ ...rows, records: [[lineOf(first, rows.delimiter)], ...others] });
    },
    destroys: () => [0],
    count: () => RECORDS - 1,
  },
];
