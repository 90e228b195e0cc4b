import type { IndustryEvent } from './records';

/**
 * The search as far as the operations use it: words that no stemmer changes, `-word` and `or`. The contract fixes the order
 * by rank for one word only: in the name, then in venue, keywords, industries or personas, then in the description.
 */

interface Term {
  word: string;
  wanted: boolean;
}

/** A record that matches. */
interface Match {
  record: IndustryEvent;
  /** the lower one stands first, where the query is one word; else 0 */
  tier: number;
  /** of two matches with equal texts, the one that arrived first stands first */
  texts: string;
}

const wordsOf = (...texts: unknown[]): Set<string> =>
  new Set(
    texts.flat().flatMap((text) => (typeof text === 'string' ? text.toLowerCase().split(/[^\p{L}\p{N}]+/u) : [])),
  );

const termsOf = (text: string): Term[] =>
  text
    .trim()
    .split(/\s+/)
    .map((each) => ({ word: each.replace(/^-/, '').toLowerCase(), wanted: !each.startsWith('-') }));

/** The matches in order of arrival, those of one word by tier first. */
function matchesOf(all: IndustryEvent[], q: string): Match[] {
  const alternatives = q.split(/\sor\s/).map(termsOf);
  const matches = (words: Set<string>): boolean =>
    alternatives.some((terms) => terms.every(({ word, wanted }) => words.has(word) === wanted));
  const isOneWord = new Set(alternatives.flat().map(({ word }) => word)).size === 1;
  const found = all.flatMap((record): Match[] => {
    const { name, venueCity, venueState, venueCountry, keywords, exhibitorIndustries, attendeePersonas } = record;
    const facts = [venueCity, venueState, venueCountry, keywords, exhibitorIndustries, attendeePersonas];
    if (!matches(wordsOf(name, ...facts, record.description))) return [];
    const tier = !isOneWord || matches(wordsOf(name)) ? 0 : matches(wordsOf(...facts)) ? 1 : 2;
    return [{ record, tier, texts: JSON.stringify([name, facts, record.description]) }];
  });
  return found.sort((one, other) => one.tier - other.tier);
}

/**
 * All matches, with a page in the order of the answer if the contract allows it.
 * @param ids of the answer's page
 */
export function search(all: IndustryEvent[], q: string, ids: unknown[], begin: number): IndustryEvent[] {
  const found = matchesOf(all, q);
  const shown = ids.flatMap((id) => found.filter(({ record }) => record.id === id));
  const expected = found.slice(begin, begin + ids.length);
  const isAllowed =
    new Set(ids).size === shown.length &&
    shown.every(({ tier }, n) => tier === expected[n]?.tier) &&
    shown.every((one, n) =>
      shown.slice(n).every((later) => one.texts !== later.texts || found.indexOf(one) <= found.indexOf(later)),
    );
  if (!isAllowed) return found.map(({ record }) => record);
  const others = found.filter((one) => !shown.includes(one));
  return [...others.slice(0, begin), ...shown, ...others.slice(begin)].map(({ record }) => record);
}
