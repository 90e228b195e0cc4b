const MAX_CHARACTERS = 512;
const MAX_WORDS = 32;

/** Dashes and brackets, then a phrase in its quotes or a run without blanks. */
const TOKEN = /([-(]*)("[^"]*"?|[^\s"]+)/g;
/** All that is no word: functions/search.sql blanks the same in records. */
const SIGNS = /[^\p{L}\p{M}\p{Nd}]+/u;
/** What telephones write in the place of a straight quote. */
const OTHER_QUOTES = /[“”„‟«»]/g;

export interface SearchQuery {
  /** for PostgreSQL's websearch_to_tsquery; empty when it finds nothing */
  text: string;
  /** whether it has too many characters or words, those in phrases counted and those of equal terms once */
  isTooLong: boolean;
}

/**
 * Reads a `q`: terms that must all match, quoted phrases, `-` before what must not, and `or` between alternatives. Only a
 * whole `or` and a dash before a term are operators: every term is quoted, with blanks in the place of its signs, so that
 * `node.js` is a phrase. An alternative that only excludes would visit the whole catalogue, and finds nothing instead.
 */
export function searchQuery(q: string): SearchQuery {
  const alternatives = new Set<string>();
  const words = new Map<string, number>();
  for (const terms of alternativesOf(q.includes('"') ? q : q.replace(OTHER_QUOTES, '"'))) {
    for (const term of terms) words.set(term.key, term.words.length);
    if (terms.every(({ isExcluded }) => isExcluded)) continue;
    const once = new Map(terms.map((term) => [`${term.isExcluded} ${term.key}`, asText(term)]));
    alternatives.add([...once.values()].join(' '));
  }
  const count = [...words.values()].reduce((sum, length) => sum + length, 0);
  return {
    text: [...alternatives].join(' or '),
    isTooLong: [...q].length > MAX_CHARACTERS || count > MAX_WORDS,
  };
}

interface Term {
  words: string[];
  /** the words, in one spelling: equal terms count once */
  key: string;
  isExcluded: boolean;
}

const asText = ({ words, isExcluded }: Term): string => `${isExcluded ? '-' : ''}"${words.join(' ')}"`;

function alternativesOf(q: string): Term[][] {
  const alternatives: Term[][] = [[]];
  for (const [, prefix = '', text = ''] of q.matchAll(TOKEN)) {
    if (prefix === '' && text.toLowerCase() === 'or') {
      alternatives.push([]);
      continue;
    }
    const words = text.split(SIGNS).filter(Boolean);
    if (words.length === 0) continue;
    const key = words.join(' ').normalize().toLowerCase();
    alternatives.at(-1)?.push({ words, key, isExcluded: prefix.replaceAll('(', '').length % 2 === 1 });
  }
  return alternatives;
}
