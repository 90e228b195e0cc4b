import { isDeepStrictEqual } from 'node:util';
import { classOf, type Class, type FieldSchema, isObject, schemasOf } from '../../fields/field-rules';
import type { Table } from './tables';

/** Why something stays as it is. */
export type LeftReason = 'changed' | 'inUse' | 'deleted' | 'gone' | 'taken';

/** A value that returns to a field, or an entry that leaves a list. */
export interface Move {
  direction: 'returns' | 'leaves';
  /** The path of the field, or of the list. */
  path: string;
  value: unknown;
}

/** A field of which something stays as it is. */
export interface LeftField {
  field: string;
  reason: LeftReason;
}

type Fields = Record<string, unknown>;

/** A field as it was before the import, as the import wrote it, and as it is now. */
interface Versions<T = unknown> {
  former: T;
  written: T;
  current: T;
}

const SEPARATOR = '; ';

/**
 * Brings a record back field by field: where a field still has what the import wrote, it gets its former value, and where
 * somebody has changed it since, it stays. Lists go entry by entry.
 */
export class RecordMerge {
  readonly left: LeftField[] = [];

  /** @param obstacle says why a move is impossible, if it is */
  constructor(
    private readonly main: Table,
    private readonly obstacle: (move: Move) => LeftReason | undefined,
  ) {}

  /** The record as it should be; equal to the current one if nothing is brought back. */
  merge(versions: Versions<object>): object {
    return this.mergeFields(this.main.dataset.record, versions as Versions<Fields>, '');
  }

  private mergeFields(type: Class, { former, written, current }: Versions<Fields>, prefix: string): Fields {
    const merged = { ...current };
    for (const [name, schema] of schemasOf(type)) {
      const path = prefix + name;
      // A flag that no column stores is exported only if it is set. All other fields have null for no value.
      const none = this.main.dataset.computedFields?.[path]?.type === 'boolean' ? false : null;
      const versions = { former: former[name] ?? none, written: written[name] ?? none, current: current[name] ?? none };
      const value = this.mergeField(schema, versions, path);
      if (!isDeepStrictEqual(value, versions.current)) merged[name] = value;
    }
    return merged;
  }

  private mergeField(schema: FieldSchema, versions: Versions, path: string): unknown {
    const { former, written, current } = versions;
    if (isDeepStrictEqual(former, written) || isDeepStrictEqual(former, current)) return current;
    const type = classOf(schema);
    const values = [former, written, current];
    if (values.every(Array.isArray)) return this.mergeList(schema, versions as Versions<unknown[]>, path);
    if (type && values.every(isObject)) return this.mergeFields(type, versions as Versions<Fields>, `${path}.`);
    const isUntouched = isDeepStrictEqual(written, current);
    if (!isUntouched && this.main.dataset.textLists?.includes(path)) {
      const texts = { former: entriesOf(former), written: entriesOf(written), current: entriesOf(current) };
      return this.mergeList(schema, texts, path).join(SEPARATOR) || null;
    }
    if (!isUntouched) return this.leave(path, 'changed', current);
    const reason = this.obstacle({ direction: 'returns', path, value: former });
    return reason ? this.leave(path, reason, current) : former;
  }

  private mergeList(schema: FieldSchema, versions: Versions<unknown[]>, path: string): unknown[] {
    const keyOf = entryKey(schema);
    const byKey = (entries: unknown[]) => new Map(entries.map((entry) => [keyOf(entry), entry]));
    const [former, written, current] = [versions.former, versions.written, versions.current].map(byKey) as [
      Map<string, unknown>,
      Map<string, unknown>,
      Map<string, unknown>,
    ];
    const kept = versions.current.flatMap((entry) => {
      const key = keyOf(entry);
      // Others have added it.
      if (!written.has(key)) return [entry];
      const entryVersions = { former: former.get(key), written: written.get(key), current: entry };
      return former.has(key)
        ? [this.mergeEntry(schema, entryVersions, path)]
        : this.removeEntry(entry, entryVersions.written, path);
    });
    const returned = versions.former.filter((entry) => {
      const key = keyOf(entry);
      if (current.has(key)) return false;
      const reason = written.has(key) ? 'changed' : this.obstacle({ direction: 'returns', path, value: entry });
      const isSame = written.has(key) && isDeepStrictEqual(entry, written.get(key));
      if (reason && !isSame) this.leave(path, reason, entry);
      return !reason;
    });
    const merged = [...kept, ...returned];
    if (!isDeepStrictEqual(versions.current, versions.written)) return merged;
    // Nobody has changed the list since, so its former order returns, too.
    const order = new Map([...former.keys()].map((key, index) => [key, index]));
    const indexOf = (entry: unknown): number => order.get(keyOf(entry)) ?? order.size;
    return merged.sort((one, other) => indexOf(one) - indexOf(other));
  }

  /** An entry that the import has changed. */
  private mergeEntry(schema: FieldSchema, versions: Versions, path: string): unknown {
    const type = classOf(schema);
    const { current } = versions;
    if (!type || !Object.values(versions).every(isObject)) return current;
    const value = this.mergeFields(type, versions as Versions<Fields>, `${path}.`);
    if (isDeepStrictEqual(value, current)) return current;
    const reason = this.obstacle({ direction: 'returns', path, value });
    return reason ? this.leave(path, reason, current) : value;
  }

  /** The rest of an entry that the import has added: nothing, or the entry. */
  private removeEntry(entry: unknown, written: unknown, path: string): unknown[] {
    const list = this.main.lists.find((table) => table.list?.name === path)?.list;
    // The audit log knows what was added to such a list, whether there is a file or not.
    if (list?.isAdditive) return [entry];
    if (!isDeepStrictEqual(entry, written)) return [this.leave(path, 'changed', entry)];
    const reason = this.obstacle({ direction: 'leaves', path, value: entry });
    return reason ? [this.leave(path, reason, entry)] : [];
  }

  private leave<T>(field: string, reason: LeftReason, value: T): T {
    const isKnown = this.left.some((each) => each.field === field && each.reason === reason);
    if (!isKnown) this.left.push({ field, reason });
    return value;
  }
}

const entriesOf = (text: unknown): string[] =>
  String(text ?? '')
    .split(';')
    .map((entry) => entry.trim())
    .filter(Boolean);

/** What tells the entries of a list apart. */
function entryKey({ distinct }: FieldSchema): (entry: unknown) => string {
  if (typeof distinct !== 'string') return (entry) => JSON.stringify(entry);
  return (entry) => String((entry as Fields)[distinct]);
}
