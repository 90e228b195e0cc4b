import { MAX_LENGTH } from '../fields/fields';

/**
 * The letters and digits of a name in lower case, so that `First name` equals `firstName`. A name without any stays as it
 * is, and so does one that is longer than the name of any field, because `normalize()` takes quadratic time over a run of
 * combining marks.
 */
export function normalizedName(name: string): string {
  if (name.length > MAX_LENGTH.name) return name.trim();
  const lowerCase = name.normalize('NFKD').toLowerCase();
  return lowerCase.replace(/[^\p{L}\p{N}]/gu, '') || name.trim();
}

/**
 * The candidate whose name differs least from a misspelled one, if it differs in few letters only.
 * @param candidates normalized names, and what each stands for
 * @param maxDistance in how many letters it may differ
 */
export function closestName(
  name: string,
  candidates: Iterable<[normalized: string, value: string]>,
  maxDistance = Math.max(1, Math.floor(normalizedName(name).length / 5)),
): string | undefined {
  const normalized = normalizedName(name);
  let closest: { value: string; distance: number } | undefined;
  for (const [candidate, value] of candidates) {
    if (Math.abs(candidate.length - normalized.length) > maxDistance) continue;
    const distance = editDistance(normalized, candidate);
    if (distance <= maxDistance && distance < (closest?.distance ?? Infinity)) closest = { value, distance };
  }
  return closest?.value;
}

/** The number of letters to add, remove, replace, or swap with the next one (optimal string alignment). */
function editDistance(one: string, other: string): number {
  let rowBefore: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const cost = one[i - 1] === other[j - 1] ? 0 : 1;
      const added = (row[j] ?? 0) + 1;
      const removed = (next[j - 1] ?? 0) + 1;
      const replaced = (row[j - 1] ?? 0) + cost;
      const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwapped ? (rowBefore[j - 2] ?? 0) + 1 : Infinity;
      next[j] = Math.min(added, removed, replaced, swapped);
    }
    rowBefore = row;
    row = next;
  }
  return row[other.length] ?? 0;
}
