import type { IndustryEvent } from './records';

/**
 * The search as far as the operations use it: words that no stemmer changes, `-word` and `or`. What matches in the name
 * comes first, then what matches in name, venue, keywords, industries and personas, then what needs the description;
 * each in the order of creation.
 */

interface Term {
  word: string;
  wanted: boolean;
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

export function search(all: IndustryEvent[], q: string): IndustryEvent[] {
  const alternatives = q.split(/\sor\s/).map(termsOf);
  const matches = (words: Set<string>): boolean =>
    alternatives.some((terms) => terms.every(({ word, wanted }) => words.has(word) === wanted));
  const tiers: IndustryEvent[][] = [[], [], []];
  for (const event of all) {
    const { name, venueCity, venueState, venueCountry, keywords, exhibitorIndustries, attendeePersonas } = event;
    const rest = [venueCity, venueState, venueCountry, keywords, exhibitorIndustries, attendeePersonas];
    if (!matches(wordsOf(name, ...rest, event.description))) continue;
    const tier = matches(wordsOf(name)) ? 0 : matches(wordsOf(name, ...rest)) ? 1 : 2;
    tiers[tier]?.push(event);
  }
  return tiers.flat();
}
