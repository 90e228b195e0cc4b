import type { Proposal } from '../exchange/csv/propose';
import type { SurveyedColumn } from '../exchange/csv/survey';
import type { CsvPlan } from '../exchange/csv/plan';
import type { Datasets } from '../exchange/datasets/dataset';
import type { ImportError } from '../exchange/datasets/import-error';
import type { ImportResult } from '../exchange/datasets/import.service';
import { quote, quoteShortened } from '../exchange/datasets/quote';
import { escapeInvisible } from '../fields/invisible';
import { applicableLines, errorsJson, outcomesText, readingNotes } from './import-report';
import { fit, formatColumns } from './terminal/columns';
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
}

const MAX_WIDTH = 200;

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
    outcomes: result?.outcomes ?? {},
    changes: result?.preview?.changes ?? {},
    warnings: warningsOf(shown),
    ...(error ? errorsJson(error) : { errors: [], more: 0 }),
  };
}

/** What a person reads before anything is stored. @param width of the terminal */
export function proposalText(shown: ShownProposal, width = process.stdout.columns || 100): string {
  const { proposal, datasets, result, error, command, mappingFile } = shown;
  const shownWidth = Math.min(width, MAX_WIDTH);
  const warnings = warningsOf(shown);
  const what = result && outcomesText(datasets, result);
  const parts = [
    formatLines(proposal, shownWidth),
    columnLines(proposal, shownWidth),
    ...(result?.preview?.records ?? []).map((record, index, all) => recordLines(record, index, all.length, shownWidth)),
    [
      error ? `As it is, nothing would be imported: ${error.message}` : `Would import ${what}.`,
      ...(error && what ? [`Without what is wrong (--lenient): ${what}.`] : []),
      ...(result ? readingNotes(result) : []),
      ...changeLines(result),
    ],
    warnings.length > 0 ? ['Please look at this:', ...warnings.map((warning) => `  ${warning}`)] : [],
    [
      `Nothing is stored yet. The mapping is in ${mappingFile}: correct it there, and import the file with`,
      `  ${command}`,
    ],
  ];
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

const DELIMITER_NAMES: Record<string, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' };

/** How many of the lines before the header are shown. */
const MAX_LINES_BEFORE = 5;

function formatLines({ mapping, delimiter, headerLine, linesBefore }: Proposal, width: number): string[] {
  const name = DELIMITER_NAMES[delimiter] ?? quote(delimiter);
  const encoding = mapping.encoding ?? 'UTF-8 or as its byte order mark says';
  const sentence = `The names of the columns are in line ${headerLine}, cells are separated by ${name}, and the encoding is ${encoding}.`;
  if (linesBefore.length === 0) return [sentence];
  const more = linesBefore.length - MAX_LINES_BEFORE;
  return [
    `${sentence} Not read, as it stands before:`,
    ...linesBefore.slice(0, MAX_LINES_BEFORE).map((line) => fit(`  ${escapeInvisible(line)}`, width)),
    ...(more > 0 ? [`  and ${formatCount(more, 'more line')}`] : []),
  ];
}

function columnLines({ columns, mapping }: Proposal, width: number): string[] {
  const rows = filledFirst(columns).map((column) => {
    const { field = null, format } = mapping.columns[column.index] ?? {};
    const values = column.values.map(({ value, count }) => {
      return count === null ? quoteShortened(value) : `${quoteShortened(value)} ${formatNumber(count)}`;
    });
    return [
      escapeInvisible(column.name) || '""',
      field === null ? '-' : `${field}${format ? ` (${format})` : ''}`,
      formatNumber(column.filled),
      column.different === null ? '1,000+' : formatNumber(column.different),
      values.join(', '),
    ];
  });
  return formatColumns(['column', 'field', 'filled', 'differ', 'values'], rows, width);
}

/** The fields of a record that have a value. */
function recordLines(record: string, index: number, count: number, width: number): string[] {
  const title = index === count - 1 && count > 2 ? 'Last record:' : `Record ${index + 1}:`;
  const fields = flatFields(JSON.parse(record) as object).map(([path, value]) =>
    fit(`  ${path}: ${escapeInvisible(typeof value === 'string' ? value : JSON.stringify(value))}`, width),
  );
  return [title, ...fields];
}

function flatFields(value: object, prefix = ''): [path: string, value: unknown][] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    const isEmptyList = Array.isArray(inner) && inner.length === 0;
    if ([null, '', false, 0].includes(inner as null) || isEmptyList || name === 'id') return [];
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
