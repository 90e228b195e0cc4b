import { MAX_LENGTH } from '../api/fields';
import { quoted, shortened, visible } from './quoted';

/** One thing that is wrong with a dataset. What does not apply is null. */
export interface Fault {
  /** of the file, from 1 */
  line: number | null;
  /** the name of a column of CSV */
  column: string | null;
  path: string | null;
  value: unknown;
  wanted: string;
}

/** A fault with the sentence that tells of it, and its place in the order of the file. */
export type ToldFault = Fault & { says: string; order?: number };

const MAX_FAULTS = 20;

export const NOWHERE = { line: null, column: null, path: null, value: null } as const;

/** A dataset that cannot be imported. The message has a line for each fault. */
export class ImportFault extends Error {
  constructor(
    readonly faults: ToldFault[],
    readonly more = 0,
  ) {
    const others = more > 0 ? [`and ${more.toLocaleString('en-US')} more`] : [];
    super([...faults.map(textOf), ...others].join('\n'));
  }
}

/** A reason that has no place in the file, in one sentence. */
export const refusal = (says: string): ImportFault => new ImportFault([{ ...NOWHERE, wanted: says, says }]);

/** `line 7, column "Create Date": "5/4/2026" is no date-time; wanted …` */
function textOf({ line, column, path, value, says }: ToldFault): string {
  const places = [line === null ? '' : `line ${line}`, column === null ? '' : `column ${quoted(column)}`];
  const where = places.filter(Boolean).join(', ');
  // The names of fields come from the file, too.
  const shownPath = path && visible(path.slice(0, MAX_LENGTH.name));
  const at = [where, column === null ? shownPath : null].filter(Boolean).join(': ');
  const given = value === null || value === undefined ? '' : `${shortened(value)} `;
  return `${at ? `${at}: ` : ''}${given}${says}`;
}

/** All that is wrong with a file: the first faults in its order, and how many more there are. */
export class Faults {
  private first: ToldFault[] = [];
  private count = 0;
  /** Unknown columns are told before all else, and are not among the first. */
  private columns: ToldFault[] = [];
  private moreColumns = 0;

  add(...faults: ToldFault[]): void {
    this.merge(faults, faults.length);
  }

  /** @param count of all faults, of which these are the first */
  merge(faults: ToldFault[], count: number): void {
    this.count += count;
    const orderOf = ({ order, line }: ToldFault): number => order ?? line ?? -1;
    const all = [...this.first, ...faults];
    this.first = all.sort((one, other) => orderOf(one) - orderOf(other)).slice(0, MAX_FAULTS);
  }

  addColumns(faults: ToldFault[], more: number): void {
    this.columns = faults;
    this.moreColumns = more;
  }

  get any(): boolean {
    return this.count + this.columns.length > 0;
  }

  /** @throws ImportFault where there are any */
  throwIfAny(): void {
    if (!this.any) return;
    throw new ImportFault([...this.columns, ...this.first], this.count - this.first.length + this.moreColumns);
  }
}
