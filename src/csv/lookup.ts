import type { EntityManager } from 'typeorm';

/** Other records of the organization that cells refer to. */
export interface LookupSource {
  /**
   * SQL that selects each `text` by which a record is known, the `value` that refers to it, and a `rank`: of two records that
   * are known by one text, the one with the lower rank is meant. `$1` is the organization's id.
   */
  sql: string;
  /** Whether letter case matters. */
  isExact: boolean;
  /** The error message for a text by which no record is known. */
  unknownMessage: (text: string) => string;
  /** The error message for a text by which several records are known. */
  ambiguousMessage: (text: string) => string;
  /** What a cell may refer to a record by. */
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

  private constructor(private readonly isExact: boolean) {}

  static async load(manager: EntityManager, organizationId: number, { sql, isExact }: LookupSource): Promise<Lookup> {
    const lookup = new Lookup(isExact);
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

  /** The name by which people know a value, if it can be read back; the value itself otherwise. */
  nameOf(value: string): string {
    const texts = this.textsByValue.get(value) ?? [];
    return texts.findLast((text) => this.find(text) === value && text.trim() === text) ?? value;
  }
}
