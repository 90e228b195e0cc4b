import type { EntityManager } from 'typeorm';

/** The names by which a file may mean records of an organization. */
export interface LookupSource {
  /** what they are, and how they are named, in words */
  noun: string;
  wanted: string;
  /** rows of `text`, the `value` that a record has for it, and `rank`: of two that have one text the lower one is meant */
  sql: string;
  /** whether letter case counts */
  isExact: boolean;
}

interface Named {
  /** null where several have the text */
  value: string | null;
  rank: number;
}

/** What an organization has when a file is read or written. */
export class Lookup {
  private readonly byText = new Map<string, Named>();
  private readonly names = new Map<string, string[]>();

  private constructor(private readonly isExact: boolean) {}

  static async load(manager: EntityManager, organizationId: number, { sql, isExact }: LookupSource): Promise<Lookup> {
    const lookup = new Lookup(isExact);
    const rows = await manager.query<{ text: string; value: string; rank: number }[]>(`${sql} order by rank`, [
      organizationId,
    ]);
    for (const row of rows) lookup.add(row);
    return lookup;
  }

  private add({ text, value, rank }: { text: string; value: string; rank: number }): void {
    const plain = this.plain(text);
    const known = this.byText.get(plain);
    if (!known) this.byText.set(plain, { value, rank });
    else if (known.rank === rank && known.value !== value) known.value = null;
    this.names.set(value, [...(this.names.get(value) ?? []), text]);
  }

  private plain = (text: string): string => (this.isExact ? text : text.toLowerCase());

  /** The value of a text; null where it is that of several, undefined where of none. */
  find = (text: string): string | null | undefined => this.byText.get(this.plain(text))?.value;

  /** The text that people know, where it finds the value. */
  nameOf = (value: string): string =>
    this.names.get(value)?.findLast((text) => this.find(text) === value && text.trim() === text) ?? value;
}
