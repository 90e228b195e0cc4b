import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import type { EntityManager } from 'typeorm';
import { isUuid } from '../api/text';
import { CellFault, type CellContext, type Draft, type Field } from './csv-values';
import { type Column, columnsOf, type CsvForm, keyOf } from './csv-columns';
import { unescapeFormula } from './csv-formulas';
import type { CsvService } from './csv.service';
import { type CsvText, csvTextOf } from './csv-text';
import type { CsvMatch, UncheckedRecord } from '../datasets/dataset';
import { type Fault, type Faults, ImportFault, NOWHERE, refusal, type ToldFault } from '../datasets/faults';
import { MAX_ROW, MAX_ROW_MIB, textOf } from '../datasets/file-text';
import { Lookup } from './lookup';
import type { FaultPlace, Given, Place } from '../datasets/write-statements';
import { quoted, shortened } from '../datasets/quoted';

interface Row {
  cells: string[];
  /** on which it begins, from 1 */
  line: number;
}

/** A field, with the columns that say it. */
interface Input {
  field: Field;
  columns: Column[];
  context: CellContext;
}

/** What is wrong with a cell. */
type CellsFault = Pick<Fault, 'value' | 'wanted'> & { says: string };

/** The records of a CSV file, in constant memory. In columns that it lacks, stored records keep what they have. */
export class CsvRecords implements Given {
  readonly isPart = true;
  readonly repeated: CsvForm['repeated'];
  readonly match: CsvMatch | undefined;
  columns: Column[] = [];
  private inputs: Input[] = [];
  private key: Column | undefined;
  /** of `--event` */
  private event: Input | undefined;

  /** @param manager finds what cells name */
  constructor(
    private readonly csv: CsvService,
    private readonly form: CsvForm,
    private readonly organizationId: number,
    private readonly manager: EntityManager,
    private readonly faults: Faults,
  ) {
    this.repeated = form.repeated;
    this.match = form.match ? csv.dataset(form.section).matches?.[form.match] : undefined;
  }

  /** @throws ImportFault where it cannot be read on */
  async *read(chunks: AsyncIterable<Buffer>): AsyncGenerator<UncheckedRecord> {
    const { section, skipLines, delimiter, encoding } = this.form;
    const text = await csvTextOf(textOf(chunks, encoding), skipLines, delimiter);
    let heads: string[] | undefined;
    for await (const row of rowsOf(text)) {
      if (!heads) {
        heads = row.cells;
        await this.begin(heads, row.line);
        continue;
      }
      const { record, told } = this.recordOf(row, heads);
      if (record) yield { section, record, line: row.line, told };
    }
    if (!heads) throw refusal('the file is empty');
  }

  has = (path: string): boolean => this.inputs.some(({ field }) => covers(field, path));

  merged(path: string, stored: string, given: string): string {
    const fields = this.inputs.map(({ field }) => field);
    const merging = fields.flatMap(({ changes, merge }) => (changes?.includes(path) && merge ? [merge] : []));
    const isWhole = merging.length === 0 || fields.some(({ name }) => name === path);
    return isWhole ? given : [...new Set(merging)].reduce((merged, merge) => merge(merged, given), stored);
  }

  get keyPath(): string | undefined {
    const { field } = this.key ?? {};
    return field && (field.changes?.[0] ?? field.name);
  }

  faultAt({ line }: Place, path: string): FaultPlace {
    const { field, columns } = this.inputs.find((input) => covers(input.field, path)) ?? {};
    const { head = null, index = -1 } = columns?.[0] ?? {};
    const place = { line: line ?? null, column: head, path: field?.name ?? path, order: placeIn(line, index) };
    // What is stored is not what such a cell says.
    return field && !field.take ? { ...place, value: null } : place;
  }

  private async begin(heads: string[], line: number): Promise<void> {
    const { section, clock, raw, match } = this.form;
    this.columns = columnsOf(this.csv, this.form, heads, line, this.faults);
    const context = { organizationId: this.organizationId, clock, raw };
    const lookups = new Map<Field, Lookup>();
    const inputOf = async (field: Field, columns: Column[]): Promise<Input> => {
      const { lookup } = field;
      if (lookup) lookups.set(field, await Lookup.load(this.manager, this.organizationId, lookup));
      return { field, columns, context: { ...context, lookup: lookups.get(field) } };
    };
    // A field may build on what earlier fields have put into the record.
    for (const field of this.csv.fields(section)) {
      const columns = this.columns.filter((column) => column.field === field);
      if (columns.length > 0) this.inputs.push(await inputOf(field, columns));
    }
    await this.beginEvent(inputOf);
    if (this.match) this.key = keyOf(this.columns, String(match), this.match);
  }

  /** The event of the option is a column that all rows have. */
  private async beginEvent(inputOf: (field: Field, columns: Column[]) => Promise<Input>): Promise<void> {
    const { section, event } = this.form;
    const field = this.csv.fields(section).find(({ name }) => name === this.csv.dataset(section).events);
    if (event === undefined || !field) return;
    const input = await inputOf(field, []);
    try {
      field.put({}, JSON.stringify([event]), input.context);
    } catch (fault) {
      throw refusal(`--event ${shortened(event)} ${(fault as CellFault).message}`);
    }
    this.event = input;
    if (!this.inputs.some((each) => each.field === field)) this.inputs.push(input);
  }

  /** Of a row that is none, or has cells at fault, the faults are told. */
  private recordOf(row: Row, heads: string[]): { record?: Draft; told?: string[] } {
    const { cells, line } = row;
    if (cells.length === 1 && heads.length > 1) {
      const says = `is a single cell in a file of ${heads.length} columns: a footer, or a row that is quoted as a whole`;
      this.faults.add({ ...NOWHERE, line, value: cells[0], wanted: `${heads.length} cells`, says });
      return {};
    }
    const draft: Draft = {};
    const told: string[] = [];
    const found: [index: number, ToldFault][] = this.strayCells(row, heads);
    for (const input of this.inputs) {
      const { field } = input;
      for (const [column, fault] of this.put(draft, input, cells)) {
        told.push(...(field.changes ?? [field.name]));
        found.push([column.index, { line, column: column.head, path: field.name, ...fault }]);
      }
    }
    if (this.key && (cells[this.key.index] ?? '').trim() === '') {
      const [wanted, { head, field }] = [`a value, for --match ${this.form.match}`, this.key];
      found.push([
        this.key.index,
        { ...NOWHERE, line, column: head, path: field?.name ?? null, wanted, says: `missing; wanted ${wanted}` },
      ]);
      told.push(...(field?.changes ?? [String(field?.name)]));
    }
    if (this.event) this.event.field.put(draft, JSON.stringify([this.form.event]), this.event.context);
    draft.id ??= this.csv.dataset(this.form.section).newId?.();
    if (found.length === 0) return { record: draft };
    this.faults.add(...found.map(([index, fault]) => ({ ...fault, order: placeIn(line, index) })));
    return { record: draft, told };
  }

  /** Texts beyond the columns, or in one without a name. */
  private strayCells({ cells, line }: Row, heads: string[]): [number, ToldFault][] {
    if (cells.length === heads.length && !this.hasNameless(heads)) return [];
    return cells.flatMap((value, index): [number, ToldFault][] => {
      if (value.trim() === '' || (index < heads.length && heads[index]?.trim() !== '')) return [];
      const is = index < heads.length ? 'stands in a column without a name' : `is beyond the ${heads.length} columns`;
      const wanted = index < heads.length ? 'a name in the first line' : `${heads.length} cells`;
      return [[index, { ...NOWHERE, line, value, wanted, says: `${is} (cell ${index + 1})` }]];
    });
  }

  private hasNameless = (heads: string[]): boolean => heads.some((head) => head.trim() === '');

  /** Puts the cells of a field into a record. Lists take all columns; else only one may have a text, or all the same. */
  private put(draft: Draft, { field, columns, context }: Input, cells: string[]): [Column, CellsFault][] {
    const found: [Column, CellsFault][] = [];
    let before: [Column, string] | undefined;
    for (const column of columns) {
      const raw = cells[column.index] ?? '';
      const cell = this.form.raw ? raw : unescapeFormula(raw);
      const isEmpty = cell.trim() === '';
      if (!field.isList && columns.length > 1 && isEmpty && (before || column !== columns.at(-1))) continue;
      if (before && before[1].trim() !== cell.trim()) {
        const says = `is another one than ${shortened(before[1])} in the column ${quoted(before[0].head)}`;
        found.push([column, { value: raw, wanted: 'one of them, or both alike', says }]);
      }
      try {
        field.put(draft, cell, context);
      } catch (fault) {
        if (!(fault instanceof CellFault)) throw fault;
        found.push([column, { value: raw, wanted: fault.wanted, says: fault.message }]);
      }
      if (!field.isList) before ??= [column, cell];
    }
    const [column] = columns;
    const id = field.name === 'id' && column ? draft.id : undefined;
    if (id === undefined || isUuid(id) || !this.csv.fieldNamed(this.form.section, 'ref')) return found;
    const wanted = `a uuid, or say --map ${quoted(`${column?.head}=ref`)} where another program gave the ids`;
    return column ? [[column, { value: id, wanted, says: `is no uuid; wanted ${wanted}` }]] : found;
  }
}

/** The place of a cell in the order of the file. */
const placeIn = (line: number | null | undefined, index: number): number => (line ?? 0) + (index + 1) / 2 ** 25;

/** Whether a field changes what a path names: `tags` changes `tags[0].tagOptionId`. */
const covers = ({ name, changes = [name] }: Field, path: string): boolean =>
  changes.some((each) => path === each || path.startsWith(`${each}[`) || path.startsWith(`${each}.`));

/** The rows of a file that are not blank. */
async function* rowsOf({ text, delimiter, skipped }: CsvText): AsyncGenerator<Row> {
  // csv-parse counts a CRLF within quotes as two lines.
  let extraLines = -skipped;
  let lastLine = skipped;
  const parser = parse({
    delimiter,
    max_record_size: MAX_ROW, // with a quote that is never closed, the rest of the file would be one row
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_records_with_empty_values: true,
    on_record: (cells: string[], { lines }) => {
      extraLines += count(cells, /\r\n/g);
      lastLine = lines - extraLines;
      // csv-parse's types know only texts.
      return { cells, line: lastLine - count(cells, /\r\n|\n|\r/g) } as never;
    },
  });
  pipeline(Readable.from(text), parser, () => undefined); // what fails is thrown by the parser
  try {
    yield* parser as AsyncIterable<Row>;
  } catch (fault) {
    throw fault instanceof CsvError ? rowFault(fault, lastLine, extraLines) : fault;
  }
}

function rowFault({ code, lines }: CsvError & { lines?: number }, lastLine: number, extraLines: number): ImportFault {
  const isOpen = code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE';
  const line = isOpen ? lastLine + 1 : (lines ?? lastLine + 1 + extraLines) - extraLines;
  const says = isOpen
    ? `here or below: a quote is not closed, or a row is longer than ${MAX_ROW_MIB} MiB`
    : 'a quote within a cell must be doubled, and the cell be in quotes';
  return new ImportFault([{ ...NOWHERE, line, wanted: 'rows whose quotes are closed', says }]);
}

const count = (cells: string[], what: RegExp): number => cells.join(' ').match(what)?.length ?? 0;
