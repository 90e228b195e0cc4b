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
  private readonly known = new Map<Referent, Map<string, string>>();

  constructor(
    private readonly manager: EntityManager,
    private readonly organizationId: number,
  ) {}

  /** To be told when the import itself has removed some of a kind. */
  forget(kind: Referent): void {
    this.known.delete(kind);
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
      for (const { key, id } of rows) found.set(key, id);
    }
    return found;
  }
}
