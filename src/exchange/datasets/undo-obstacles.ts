import type { EntityManager } from 'typeorm';
import type { ReferenceTarget, Table } from './tables';
import type { LeftReason, Move } from './undo-merge';
import { ADD_REMOVALS, type UndoStatements } from './undo-statements';

/** A move in the record with this key. */
type MoveOfRecord = Move & { record: string };

/** A value that is compared with what is stored, and the move that needs it. */
interface Value {
  move: MoveOfRecord;
  value: unknown;
}

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
  ) {}

  /** The rows that values refer to are locked, so that they are there when the values return. */
  async find(main: Table, moves: MoveOfRecord[]): Promise<(move: MoveOfRecord) => LeftReason | undefined> {
    const reasons = new Map<string, LeftReason>();
    /** @param statement gets the values as `$2`, and selects the numbers of those that are in the way */
    const mark = async (reason: LeftReason, some: Value[], statement: string, ...parameters: unknown[]) => {
      if (some.length === 0) return;
      const values = [this.organizationId, some.map(({ value }) => value), ...parameters];
      const found = await this.manager.query<{ n: number }[]>(statement, values);
      for (const { n } of found) reasons.set(idOf(some[n - 1]!.move), reason);
    };
    const valuesAt = (direction: Move['direction'], path: string, valueOf: (value: unknown) => unknown): Value[] =>
      moves
        .filter((move) => move.direction === direction && move.path === path)
        .map((move) => ({ move, value: valueOf(move.value) }));

    const { name, key, dataset, lists } = main;
    const returning = moves.filter(({ direction }) => direction === 'returns').map(({ record }) => record);
    for (const { target, type, path, valueOf } of [main, ...lists].flatMap(referencesOf)) {
      const isSought = ({ value }: Value) => value !== null && !this.returned.has(`${target.table}/${String(value)}`);
      const values = valuesAt('returns', path, valueOf).filter(isSought);
      await mark('gone', values, this.statements.missingKeys(target, type));
    }
    for (const [path, hasEntry] of Object.entries(dataset.exclusiveEntries ?? {})) {
      const values = valuesAt('returns', path, (entry) => entry);
      // What records of the same batch have may return to each other.
      const statement = `select n::integer from unnest($2::jsonb[]) with ordinality e (entry, n)
        where exists (
          select from ${name} t where t.organization_id = $1 and ${hasEntry('t', 'e.entry')}
            and t.${key} <> all($3) and ${this.statements.isKept(name, 't')}
        )`;
      await mark('taken', values, statement, returning);
    }
    for (const list of lists.filter(({ match }) => match.length === 1)) {
      const values = valuesAt('leaves', list.list?.name ?? '', entryKeyOf(list));
      await mark('inUse', values, this.statements.usedEntries(list));
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
}

/** What a value refers to, in a field or in an entry of a list at a path. */
interface Reference {
  target: ReferenceTarget;
  type: string;
  path: string;
  valueOf: (value: unknown) => unknown;
}

const referencesOf = ({ columns, owner, list, record }: Table): Reference[] =>
  columns.flatMap((column) => {
    const { target, type, path } = column;
    if (!target || column === owner) return [];
    if (!list) return [{ target, type, path, valueOf: (value) => value }];
    const valueOf = (entry: unknown): unknown => (record ? ((entry as Fields)[path] ?? null) : entry);
    return [{ target, type, path: list.name, valueOf }];
  });

/** The key of an entry of a list, as a text. */
function entryKeyOf({ columns, key, record }: Table): (entry: unknown) => string {
  const path = columns.find(({ name }) => name === key)?.path ?? key;
  return (entry) => String(record ? (entry as Fields)[path] : entry);
}
