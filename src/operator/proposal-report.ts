import { Help } from 'commander';
import type { Proposal } from '../exchange/csv/propose';
import type { SurveyedColumn } from '../exchange/csv/survey';
import type { CsvPlan } from '../exchange/csv/plan';
import type { Datasets } from '../exchange/datasets/dataset';
import type { ImportError } from '../exchange/datasets/import-error';
import type { ImportResult } from '../exchange/datasets/import.service';
import { quote } from '../exchange/datasets/quote';
import { escapeInvisible } from '../fields/invisible';
import { applicableLines, beforeAdvice, errorsJson, outcomesOf, outcomesText, readingNotes } from './import-report';
import { fit, formatColumns, isolate, maxTextWidth } from './terminal/columns';
import { formatCount, formatNumber } from './terminal/table';

/** A proposal, and what a dry run says of it. */
export interface ShownProposal {
  datasets: Datasets;
  proposal: Proposal;
  mappingFile: string;
  /** Undefined if the file cannot be imported like this at all. */
  result?: ImportResult;
  /** The errors of the file, if it has any. */
  error?: ImportError;
  /** The command that imports it like this. */
  command: string;
  /** Whether the option is given that keeps the changed records. */
  keepsBefore?: boolean;
}

/** Wider lines are hard to read. */
const MAX_WIDTH = 200;

/** The width of a table that goes into a file. */
const DEFAULT_WIDTH = 100;

/** A text from the file in one line. */
const inOneLine = (text: string): string => escapeInvisible(text.replace(/\r\n|\r|\n/g, ' ↵ '));

/** Columns with values come first. */
const filledFirst = (columns: SurveyedColumn[]): SurveyedColumn[] => [
  ...columns.filter(({ filled }) => filled > 0),
  ...columns.filter(({ filled }) => filled === 0),
];

/** What a program reads. */
export function proposalJson(shown: ShownProposal): object {
  const { proposal, mappingFile, result, error } = shown;
  const { mapping } = proposal;
  return {
    mappingFile,
    mapping,
    columns: filledFirst(proposal.columns).map(({ name, index, filled, different, values }) => {
      return { column: name, field: mapping.columns[index]?.field ?? null, filled, different, values };
    }),
    records: (result?.preview?.records ?? []).map((record) => JSON.parse(record) as unknown),
    outcomes: result ? outcomesOf(result) : {},
    changes: result?.preview?.changes ?? {},
    warnings: warningsOf(shown),
    ...(error ? errorsJson(error) : { errors: [], more: 0 }),
  };
}

/** What a person reads before anything is stored. @param terminalWidth undefined if it goes into a file */
export function proposalText(shown: ShownProposal, terminalWidth: number | undefined = process.stdout.columns): string {
  const { proposal, datasets, result, error, command, mappingFile, keepsBefore } = shown;
  const width = Math.min(terminalWidth ?? DEFAULT_WIDTH, MAX_WIDTH);
  /** Breaks sentences between words, where a person reads them. */
  const sentence = (text: string, indent = ''): string =>
    (terminalWidth ? new Help().boxWrap(text, width - indent.length) : text).replace(/^/gm, indent);
  const indented = (texts: string[]): string[] => texts.map((text) => sentence(text, '  '));
  const warnings = warningsOf(shown);
  const what = result && outcomesText(datasets, result);
  const parts = [
    [sentence(formatSentence(proposal)), ...linesBefore(proposal, width)],
    columnLines(proposal, width),
    ...recordLines(result, width),
    error ? ['As it is, nothing would be imported:', ...indented(error.message.split('\n'))] : [],
    [
      ...(what ? [`${error ? 'Without what is wrong (--lenient), would' : 'Would'} import ${what}.`] : []),
      ...(result ? readingNotes(result) : []),
    ].map((text) => sentence(text)),
    [...changeLines(result), ...(result && !keepsBefore ? applicableLines([beforeAdvice(result)]) : [])],
    warnings.length > 0 ? ['Please look at this:', ...indented(warnings)] : [],
    [
      sentence(`Nothing is stored yet. The mapping is in ${mappingFile}: correct it there, and import the file with`),
      `  ${command}`,
    ],
  ];
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

const DELIMITER_NAMES: Record<string, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' };

function formatSentence({ mapping, delimiter, headerLine, linesBefore }: Proposal): string {
  const name = DELIMITER_NAMES[delimiter] ?? quote(delimiter);
  const encoding = mapping.encoding ?? 'UTF-8 or as its byte order mark says';
  const before = linesBefore.length > 0 ? ' Not read, as it stands before:' : '';
  return `The names of the columns are in line ${headerLine}, cells are separated by ${name}, and the encoding is ${encoding}.${before}`;
}

/** How many of the lines before the header are shown. */
const MAX_LINES_BEFORE = 5;

function linesBefore({ linesBefore: lines }: Proposal, width: number): string[] {
  const more = lines.length - MAX_LINES_BEFORE;
  return [
    ...lines.slice(0, MAX_LINES_BEFORE).map((line) => fit(`  ${escapeInvisible(line)}`, width)),
    ...(more > 0 ? [`  and ${formatCount(more, 'more line')}`] : []),
  ];
}

function columnLines({ columns, mapping }: Proposal, width: number): string[] {
  const rows = filledFirst(columns).map((column) => {
    const { field = null, format } = mapping.columns[column.index] ?? {};
    const texts = column.values.map(({ value, count }) => {
      const shown = `"${fit(inOneLine(value), maxTextWidth(width))}"`;
      return count === null ? isolate(shown) : `${isolate(shown)} ${formatNumber(count)}`;
    });
    const cells = [
      inOneLine(column.name) || '""',
      field === null ? '-' : `${field}${format ? ` (${format})` : ''}`,
      formatNumber(column.filled),
      column.different === null ? '1,000+' : formatNumber(column.different),
    ];
    return { cells, texts };
  });
  return formatColumns(['column', 'field', 'filled', 'differ', 'values'], rows, width);
}

/** The fields of each record that have a value. */
function recordLines(result: ImportResult | undefined, width: number): string[][] {
  const records = result?.preview?.records ?? [];
  return records.map((record, index) => {
    const title = index === records.length - 1 && records.length > 2 ? 'Last record:' : `Record ${index + 1}:`;
    const fields = flatFields(JSON.parse(record) as object).map(([path, value]) => {
      const { inputs } = (result?.plan as CsvPlan).filledFields.find(({ field }) => field.name === path) ?? {};
      const { lookup } = inputs?.[0]?.context ?? {};
      return fit(`  ${path}: ${inOneLine(valueText(value, (text) => lookup?.nameOf(text) ?? text))}`, width);
    });
    return [title, ...fields];
  });
}

/** A value as a person reads it: entries of a list one after the other, flags by their names. */
function valueText(value: unknown, nameOf: (text: string) => string): string {
  if (Array.isArray(value)) return value.map((entry) => valueText(entry, nameOf)).join('; ');
  if (typeof value !== 'object' || value === null) return nameOf(String(value));
  const parts = Object.entries(value).filter(([, inner]) => isFilled(inner));
  return parts.map(([name, inner]) => (inner === true ? name : valueText(inner, nameOf))).join(' ');
}

const isFilled = (value: unknown): boolean =>
  ![null, '', false, 0].includes(value as null) && !(Array.isArray(value) && value.length === 0);

function flatFields(value: object, prefix = ''): [path: string, value: unknown][] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    if (!isFilled(inner) || name === 'id') return [];
    const isParent = typeof inner === 'object' && !Array.isArray(inner);
    return isParent ? flatFields(inner as object, `${prefix}${name}.`) : [[`${prefix}${name}`, inner]];
  });
}

function changeLines(result?: ImportResult): string[] {
  const changes = Object.entries(result?.preview?.changes ?? {}).map(([field, { changed, emptied }]) => {
    const parts = applicableLines([
      changed > 0 && `${formatNumber(changed)} changed`,
      emptied > 0 && `${formatNumber(emptied)} emptied`,
    ]);
    return `  ${field}: ${parts.join(', ')}`;
  });
  return changes.length > 0 ? ['Stored values that would be others:', ...changes] : [];
}

function warningsOf({ proposal, result }: ShownProposal): string[] {
  if (!result) return proposal.warnings;
  const { counts, section, hasKey } = result.plan as CsvPlan;
  const { usual, personMatch } = section.definition;
  const { samePersonRows } = result;
  return applicableLines([
    ...proposal.warnings,
    counts.unusual * 2 > counts.records &&
      `${formatNumber(counts.unusual)} of ${formatCount(counts.records, 'row')} without ${usual?.noun}.`,
    samePersonRows > 0 &&
      `${formatCount(samePersonRows, 'row')} with the address of an earlier row would become records of their own. To join them, add --match ${personMatch} --repeated merge.`,
    !hasKey &&
      `The rows have no ID, so the next import of this file would create all of them again. ${personMatch ? `Add --match ${personMatch}, or map` : 'Map'} a column to ${section.definition.ref?.field ?? section.key}.`,
  ]);
}
