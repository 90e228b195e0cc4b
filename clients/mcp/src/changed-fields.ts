/** A field with the value that it had and the one that it has. */
export interface ChangedField {
  field: string;
  old: unknown;
  new: unknown;
}

/** The fields that differ between two records. */
export function changedFields(before: object, after: object): ChangedField[] {
  const old = before as Record<string, unknown>;
  return Object.entries(after)
    .filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(old[field]))
    .map(([field, value]) => ({ field, old: old[field] ?? null, new: value as unknown }));
}
