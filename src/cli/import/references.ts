import type { EntityManager } from 'typeorm';

/** What records of a dataset refer to, and how it is found among what the organization has. */
const STATEMENTS = {
  event: 'select ref as key, id from events where organization_id = $1 and ref = any($2::text[])',
  user: 'select email as key, id from users where organization_id = $1 and email = any($2::text[])',
  'tag group': 'select id as key, id from tag_groups where organization_id = $1 and id = any($2::uuid[])',
  'tag option': 'select id as key, id from tag_options where organization_id = $1 and id = any($2::uuid[])',
  activation: 'select id as key, id from activations where organization_id = $1 and id = any($2::uuid[])',
  lead: 'select id as key, id from leads where organization_id = $1 and id = any($2::uuid[])',
} as const;

export type Referent = keyof typeof STATEMENTS;

/** Leads may be millions, so they alone are not remembered. */
const isRemembered = (kind: Referent): boolean => kind !== 'lead';

/** Looks up what records refer to, a batch at a time. */
export class References {
  readonly removed = new Set<string>();
  private readonly known = new Map<Referent, Map<string, string>>();

  constructor(
    private readonly manager: EntityManager,
    private readonly organizationId: number,
  ) {}

  /** Tag options are no more, as soon as the dataset says so; they are deleted in the end. */
  remove(tagOptions: string[]): void {
    for (const id of tagOptions) {
      this.removed.add(id);
      this.known.get('tag option')?.delete(id);
    }
  }

  /** They are again: another group has them. */
  restore(tagOptions: string[]): void {
    for (const id of tagOptions) this.removed.delete(id);
  }

  /** The ids of those keys that the organization has. */
  async find(kind: Referent, keys: Iterable<string>): Promise<Map<string, string>> {
    const found = (isRemembered(kind) && this.known.get(kind)) || new Map<string, string>();
    this.known.set(kind, found);
    const missing = [...new Set(keys)].filter((key) => !found.has(key));
    if (missing.length > 0) {
      const rows = await this.manager.query<{ key: string; id: string }[]>(STATEMENTS[kind], [
        this.organizationId,
        missing,
      ]);
      for (const { key, id } of rows) if (!this.removed.has(id)) found.set(key, id);
    }
    return found;
  }
}
