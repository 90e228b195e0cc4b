import type { EntityManager } from 'typeorm';
import type { FilledColumn, Table } from './tables';
import type { LeftReason, Move } from './undo-merge';
import { ADD_REMOVALS, type UndoStatements } from './undo-statements';

/** A move in the record with this key. */
type MoveOfRecord = Move & { record: string };

type Fields = Record<string, unknown>;

const idOf = ({ direction, path, value, record }: MoveOfRecord): string =>
  JSON.stringify([direction, path, value, record]);

/** Finds out which values cannot return, and which entries of lists cannot leave. */
export class Obstacles {
  /** The entries that a dry run would have brought back, as `table/key`. */
  private readonly returned = new Set<string>();

  constructor(
    private readonly manager: EntityManager,
    private readonly organizationId: number,
    private readonly statements: UndoStatements,
    private readonly isDryRun: boolean,
  ) {}

  /** The rows that values refer to are locked, so that they are there when the values return. */
  async find(main: Table, moves: MoveOfRecord[]): Promise<(move: MoveOfRecord) => LeftReason | undefined> {
    const reasons = new Map<string, LeftReason>();
    const returning = moves.filter(({ direction }) => direction === 'returns');
    for (const column of [main, ...main.lists].flatMap((table) => referencesOf(table))) {
      await this.findGone(column, returning, reasons);
    }
    for (const path of Object.keys(main.dataset.exclusiveEntries ?? {})) {
      await this.findTaken(main, path, returning, reasons);
    }
    for (const list of main.lists) {
      const leaving = moves.filter(({ direction, path }) => direction === 'leaves' && path === list.list?.name);
      await this.findUsed(list, leaving, reasons);
    }
    return (move) => reasons.get(idOf(move));
  }

  /** Remembers what a dry run would have done to lists, for what it looks at later. */
  async remember(main: Table, changed: { key: string; current?: object; merged?: object }[]): Promise<void> {
    for (const list of main.lists) {
      const keyOf = entryKeyOf(list);
      const entries = (record: object | undefined): string[] =>
        ((record as Fields | undefined)?.[list.list?.name ?? ''] as unknown[]).map(keyOf);
      const removed: [owner: string, key: string][] = [];
      for (const { key: owner, current, merged } of changed) {
        const [before, after] = [new Set(entries(current)), new Set(entries(merged))];
        for (const key of before) if (!after.has(key)) removed.push([owner, key]);
        for (const key of after) if (!before.has(key)) this.returned.add(`${list.name}/${key}`);
      }
      const [owners, keys] = [removed.map(([owner]) => owner), removed.map(([, key]) => key)];
      if (removed.length > 0) await this.manager.query(ADD_REMOVALS, [list.name, owners, keys]);
    }
  }

  private async findGone(
    { column, path, valueOf }: Reference,
    returning: MoveOfRecord[],
    reasons: Map<string, LeftReason>,
  ): Promise<void> {
    const ofPath = returning.filter((move) => move.path === path && valueOf(move.value) !== null);
    if (ofPath.length === 0 || !column.target) return;
    const { table, key } = column.target;
    const rows = await this.manager.query<{ key: string }[]>(
      `select t.${key}::text as key from ${table} t where t.organization_id = $1 and t.${key} = any($2::${column.type}[])
        order by t.${key} ${this.isDryRun ? '' : 'for key share'}`,
      [this.organizationId, [...new Set(ofPath.map(({ value }) => valueOf(value)))]],
    );
    const stored = new Set(rows.map((row) => row.key));
    for (const move of ofPath) {
      const value = String(valueOf(move.value));
      if (!stored.has(value) && !this.returned.has(`${table}/${value}`)) reasons.set(idOf(move), 'gone');
    }
  }

  private async findTaken(
    { name, key, dataset }: Table,
    path: string,
    returning: MoveOfRecord[],
    reasons: Map<string, LeftReason>,
  ): Promise<void> {
    const ofPath = returning.filter((move) => move.path === path);
    if (ofPath.length === 0) return;
    // What records of the same batch have may return to each other.
    const taken = await this.manager.query<{ n: number }[]>(
      `select n::integer from unnest($2::jsonb[]) with ordinality e (entry, n)
        where exists (
          select from ${name} t where t.organization_id = $1 and ${dataset.exclusiveEntries?.[path]?.('t', 'e.entry')}
            and t.${key} <> all($3) and ${this.statements.isKept(name, 't')}
        )`,
      [this.organizationId, ofPath.map(({ value }) => value), [...new Set(returning.map(({ record }) => record))]],
    );
    for (const { n } of taken) reasons.set(idOf(ofPath[n - 1]!), 'taken');
  }

  private async findUsed(list: Table, leaving: MoveOfRecord[], reasons: Map<string, LeftReason>): Promise<void> {
    if (leaving.length === 0 || list.match.length > 1) return;
    const keyOf = entryKeyOf(list);
    const keys = leaving.map(({ value }) => keyOf(value));
    const rows = await this.manager.query<{ key: string }[]>(this.statements.usedEntries(list), [
      this.organizationId,
      keys,
    ]);
    const used = new Set(rows.map((row) => row.key));
    for (const move of leaving) if (used.has(keyOf(move.value))) reasons.set(idOf(move), 'inUse');
  }
}

/** A column that refers to rows of another table, and its value in a field, or in an entry of a list, at a path. */
interface Reference {
  column: FilledColumn;
  path: string;
  valueOf: (value: unknown) => unknown;
}

function referencesOf({ columns, owner, list, record }: Table): Reference[] {
  const references = columns.filter((column) => column.target && column !== owner);
  if (!list) return references.map((column) => ({ column, path: column.path, valueOf: (value) => value }));
  return references.map((column) => ({
    column,
    path: list.name,
    valueOf: (entry) => (record ? ((entry as Fields)[column.path] ?? null) : entry),
  }));
}

/** The key of an entry of a list, as a text. */
function entryKeyOf({ columns, key, record }: Table): (entry: unknown) => string {
  const path = columns.find(({ name }) => name === key)?.path ?? key;
  return (entry) => String(record ? (entry as Fields)[path] : entry);
}
