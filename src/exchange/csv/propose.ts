import { decodeText } from '../datasets/open';
import { DELIMITERS, mostFrequentDelimiter } from '../datasets/fallback-delimiter';
import { quote } from '../datasets/quote';
import { wordsOf } from '../datasets/similar-names';
import { isUuid } from '../../fields/text';
import type { CsvField } from './csv-fields';
import { CsvParser } from './csv-parser';
import { columnKey, type CsvSection, exportedNames, fieldNamed } from './csv.service';
import type { Mapping } from './mapping';
import { namedDelimiter, openCsv, type OpenFile } from './open';
import { SurveyedColumn, surveyRows } from './survey';

/** A mapping as the program would have it, and what it knows of the file. */
export interface Proposal {
  mapping: Mapping;
  columns: SurveyedColumn[];
  delimiter: string;
  headerLine: number;
  /** The lines with text before the header. */
  linesBefore: string[];
  warnings: string[];
}

/** The header is within this many lines. */
const MAX_HEADER_LINE = 20;

/** So many characters are looked at for the header, and so many cells of a row. */
const MAX_START_LENGTH = 1 << 20;
const MAX_CELLS = 1000;

const LINE_END = /\r\n|\n|\r/;

const VALUE = /@|^(?:https?:\/\/|www\.)|^[+-]?[\d.,\s]+$/i;

/** Whether a cell has a value, so that it is no name of a column. */
const isValue = (cell: string): boolean => VALUE.test(cell.trim()) || isUuid(cell.trim());

/**
 * The mapping of a file whose columns all have the names of fields, as an export writes them; undefined for any other file.
 * @throws ImportError if the file has no header
 */
export async function exactMapping(section: CsvSection, open: OpenFile): Promise<Mapping | undefined> {
  const { header } = await openCsv(open, { delimiter: ',', headerLine: 1 });
  const names = header.names.map((name) => name.trim());
  if (!names.every((name) => fieldNamed(section, name)) || !(await isUtf8(open))) return undefined;
  const isExport = exportedNames(section).every((name) => names.includes(name));
  return {
    section: section.name,
    delimiter: ',',
    headerLine: 1,
    emptyCells: isExport ? 'clear' : 'keep',
    columns: names.map((name) => ({ column: name, field: name })),
  };
}

async function isUtf8(open: OpenFile): Promise<boolean> {
  let isValid = true;
  for await (const _ of decodeText(open(), undefined, () => (isValid = false)));
  return isValid;
}

/**
 * Proposes how a file could be read.
 * @throws ImportError if it is empty or cannot be read
 */
export async function proposeMapping(section: CsvSection, open: OpenFile): Promise<Proposal> {
  const start = await readStart(open);
  const { delimiter, line: headerLine } = findHeader(start, section);
  let encoding: string | undefined;
  const file = await openCsv(open, { delimiter, headerLine }, { invalid: (problem) => (encoding = problem.encoding) });
  const { names } = file.header;
  const byName = names.map((name) => fieldOf(section, name));
  const columns = await surveyRows(names, byName, file.parts);
  const proposed = proposedFields(section, columns);
  return {
    mapping: {
      section: section.name,
      encoding,
      delimiter: delimiter === ',' ? undefined : delimiter,
      headerLine: headerLine === 1 ? undefined : headerLine,
      columns: columns.map(({ name, readable }, index) => {
        const field = proposed[index];
        return {
          column: name,
          field: field?.name ?? null,
          format: field?.formats && mostReadable(field.formats, readable),
        };
      }),
    },
    columns,
    delimiter,
    headerLine,
    linesBefore: start
      .split(LINE_END)
      .slice(0, headerLine - 1)
      .map((line) =>
        line
          .split(delimiter)
          .map((cell) => cell.trim())
          .filter(Boolean)
          .join('  '),
      )
      .filter((line) => line !== ''),
    warnings: columns.flatMap((column, index) => columnWarning(column, proposed[index], columns) ?? []),
  };
}

async function readStart(open: OpenFile): Promise<string> {
  let start = '';
  for await (const text of decodeText(open(), undefined, () => undefined)) {
    start += text;
    if (start.length >= MAX_START_LENGTH || start.split(LINE_END, MAX_HEADER_LINE + 2).length > MAX_HEADER_LINE + 1)
      break;
  }
  return start;
}

/** The line, of the first ones, with the most names of columns that are known and no value, and its delimiter. */
function findHeader(start: string, section: CsvSection): { line: number; delimiter: string } {
  const named = namedDelimiter(start);
  const firstText = start.split(LINE_END).findIndex((line, index) => line.trim() !== '' && !(index === 0 && named));
  const firstLine = start.split(LINE_END)[firstText] ?? '';
  let best = { line: Math.max(0, firstText) + 1, delimiter: named ?? mostFrequentDelimiter(firstLine), known: 0 };
  for (const delimiter of named === undefined ? DELIMITERS : [named]) {
    const parser = new CsvParser(delimiter, { lastLine: MAX_HEADER_LINE });
    parser.push(start.slice(0, MAX_START_LENGTH));
    for (const { cells, line, problem } of parser.rows(true)) {
      const looked = cells.slice(0, MAX_CELLS);
      const isKnown = (cell: string): boolean => section.fieldsByName.has(columnKey(cell)) || !!fieldOf(section, cell);
      const known = problem === undefined && !looked.some(isValue) ? looked.filter(isKnown).length : 0;
      if (known > best.known || (known === best.known && known > 0 && line < best.line))
        best = { line, delimiter, known };
    }
  }
  return best;
}

/** The field that a column of this name fills most likely. */
function fieldOf({ fieldsByName, definition: { prefixes } }: CsvSection, name: string): CsvField | undefined {
  const [first = '', ...rest] = wordsOf(name);
  if (prefixes?.other.includes(first)) return undefined;
  const own = fieldsByName.get(columnKey(name));
  const field = own ?? (prefixes?.same.includes(first) ? fieldsByName.get(columnKey(rest.join(' '))) : undefined);
  return field?.isExactName && field.name !== name.trim() ? undefined : field;
}

/** The fields of all columns, each of which may depend on the others and on what is in them. */
function proposedFields(section: CsvSection, columns: SurveyedColumn[]): (CsvField | undefined)[] {
  const oneByOne = columns.map((column) => ({
    field: readableField(section, column)?.name ?? null,
    filled: column.filled,
  }));
  const refined = section.definition.refineProposal?.(oneByOne) ?? oneByOne.map(({ field }) => field);
  return withoutRepetitions(
    refined.map((name) => fieldNamed(section, name)),
    columns,
  );
}

/** The field of a column, or that of IDs which others have assigned if the values are no IDs of Lanyard. */
function readableField(section: CsvSection, { field, filled, readable }: SurveyedColumn): CsvField | undefined {
  const isOtherId = field?.name === section.key && filled > 0 && !readable.get(undefined);
  return isOtherId ? fieldNamed(section, section.definition.ref?.field ?? null) : field;
}

/** A field that is no list goes to the column of its very name, or to the first one with values. */
function withoutRepetitions(fields: (CsvField | undefined)[], columns: SurveyedColumn[]): (CsvField | undefined)[] {
  return fields.map((field, index) => {
    const same = columns.filter((_, other) => fields[other] === field);
    const isOwn = ({ name }: SurveyedColumn): boolean => columnKey(name) === columnKey(field?.name ?? '');
    const filled = same.filter((column) => column.filled > 0);
    const first = filled.find(isOwn) ?? filled[0] ?? same[0];
    return field?.isList || first?.index === index ? field : undefined;
  });
}

/** The format in which most values can be read, the first of several; undefined if none is needed. */
function mostReadable(
  formats: readonly string[],
  readable: ReadonlyMap<string | undefined, number>,
): string | undefined {
  const most = Math.max(0, ...readable.values());
  return [undefined, ...formats].find((format) => (readable.get(format) ?? 0) === most);
}

/** What a person should look at. */
function columnWarning(
  { name, filled, kind, readable, has }: SurveyedColumn,
  field: CsvField | undefined,
  all: SurveyedColumn[],
): string | undefined {
  if (filled === 0) return undefined;
  if (!field) return kind && `${quote(name)} has no field, but its values are ${plural(kind)}.`;
  const { kind: wanted } = field;
  if (wanted && !has(wanted)) {
    const other = all.find((column) => column.kind === wanted);
    const hint = other ? `; ${quote(other.name)} does` : '';
    return `${quote(name)} holds no ${wanted} in any row${hint}.`;
  }
  const [days, months, years] = ['DMY', 'MDY', 'YMD'].map((format) => readable.get(format) ?? 0);
  if (mostReadable(field.formats ?? [], readable) !== 'DMY' || days !== months || days === years) return undefined;
  return `The dates in ${quote(name)} do not tell days from months. They are read as DMY; use "format": "MDY" if the month comes first.`;
}

const plural = (kind: string): string =>
  kind
    .replace(/^(address)$/, '$1es')
    .replace(/^(link)$/, '$1s')
    .replace('number', 'numbers');
