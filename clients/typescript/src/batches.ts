import type { LeadUpsertV0Input, MatchBy } from './schema';

/** What the body of a batch may hold: entries, bytes, and values of JSON. */
const MAX_LEADS = 200;
const MAX_BYTES = 1_048_576;
const MAX_VALUES = 20_000;

/** Bytes and values of the body around its entries. */
const FRAME = { bytes: 64, values: 3 };

/**
 * Cuts leads into batches that the API takes, each as large as it may be. A lead that repeats the value by which one of
 * its batch is matched begins the next batch; one that is too large for any stands alone.
 */
export async function* batchesOf(
  leads: Iterable<LeadUpsertV0Input> | AsyncIterable<LeadUpsertV0Input>,
  matchBy: MatchBy,
): AsyncGenerator<LeadUpsertV0Input[], void, undefined> {
  let batch: LeadUpsertV0Input[] = [];
  let { bytes, values } = FRAME;
  const keys = new Set<string>();
  for await (const lead of leads) {
    const text = JSON.stringify(lead);
    const size = { bytes: new TextEncoder().encode(text).length + 1, values: valuesIn(JSON.parse(text)) };
    const key = matchBy === 'none' ? undefined : keyOf(lead[matchBy]);
    const isFull = batch.length === MAX_LEADS || bytes + size.bytes > MAX_BYTES || values + size.values > MAX_VALUES;
    if (batch.length > 0 && (isFull || (key !== undefined && keys.has(key)))) {
      yield batch;
      batch = [];
      ({ bytes, values } = FRAME);
      keys.clear();
    }
    batch.push(lead);
    bytes += size.bytes;
    values += size.values;
    if (key !== undefined) keys.add(key);
  }
  if (batch.length > 0) yield batch;
}

/** By which two leads match the same one. */
const keyOf = (value: LeadUpsertV0Input['email'] | LeadUpsertV0Input['remoteId']): string =>
  typeof value === 'object' ? JSON.stringify([value?.integrationType, value?.id]) : String(value).toLowerCase();

/** Values of JSON, at any depth. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + valuesIn(inner), 1);
}
