import type { EntityManager } from 'typeorm';
import { uuidV7 } from '../../data/database/uuid';
import { isPlainEntry } from './list-cells';

/** Creates the records that cells refer to and that do not exist yet, in a group with a name. */
export type CreateReferences = (
  manager: EntityManager,
  organizationId: number,
  groupName: string,
  missing: { id: string; text: string }[],
) => Promise<void>;

/** Other records of the organization that cells refer to. */
export interface ReferencedRecords {
  /**
   * SQL that selects each `text` by which a record is known, the `value` that refers to it, and a `rank`. If two records are
   * known by one text, the one with the lower rank is used. `$1` is the organization's ID.
   */
  sql: string;
  /** Whether letter case matters. */
  isExact: boolean;
  /** What separates several texts in a cell, in addition to the separators of every list. */
  separator?: RegExp;
  /** What is wrong with a text by which no record is known. */
  unknown: (text: string, column: string) => string;
  /** What is wrong with a text by which several records are known. */
  ambiguous: (text: string) => string;
  /** Creates records for texts by which none is known. */
  createMissing?: CreateReferences;
  /** What texts identify a record, for messages. */
  expected: string;
}

interface LookupRow {
  text: string;
  value: string;
  rank: number;
}

interface Candidate {
  /** Null if several records are known by the text. */
  value: string | null;
  rank: number;
}

/** The records that an organization has when a file is imported or exported, by the texts by which they are known. */
export class Lookup {
  private readonly candidates = new Map<string, Candidate>();
  private readonly textsByValue = new Map<string, string[]>();
  /** The records to create. */
  readonly missing: { id: string; text: string }[] = [];

  private constructor(
    private readonly isExact: boolean,
    private readonly mayCreate: boolean,
  ) {}

  /** @param mayCreate whether to create a record for a text by which none is known */
  static async load(
    manager: EntityManager,
    organizationId: number,
    { sql, isExact }: ReferencedRecords,
    mayCreate = false,
  ): Promise<Lookup> {
    const lookup = new Lookup(isExact, mayCreate);
    const rows = await manager.query<LookupRow[]>(`${sql} order by rank`, [organizationId]);
    for (const row of rows) lookup.add(row);
    return lookup;
  }

  private add({ text, value, rank }: LookupRow): void {
    const key = this.keyOf(text);
    const known = this.candidates.get(key);
    if (!known) this.candidates.set(key, { value, rank });
    else if (known.rank === rank && known.value !== value) known.value = null;
    this.textsByValue.set(value, [...(this.textsByValue.get(value) ?? []), text]);
  }

  private keyOf = (text: string): string => (this.isExact ? text : text.toLowerCase());

  /** The value for a text; null if several records are known by it, undefined if none is. */
  find = (text: string): string | null | undefined => this.candidates.get(this.keyOf(text))?.value;

  /** The id of a record that is to be created for a text; undefined if none may be, or if several are known by it. */
  create(text: string): string | undefined {
    if (!this.mayCreate || this.find(text) !== undefined) return undefined;
    const id = uuidV7();
    this.missing.push({ id, text });
    this.add({ text, value: id, rank: 0 });
    return id;
  }

  /** The name by which people know a value, if it can be read back; the value itself otherwise. */
  nameOf(value: string): string {
    const texts = this.textsByValue.get(value) ?? [];
    return texts.findLast((text) => this.find(text) === value && isPlainEntry(text)) ?? value;
  }
}
