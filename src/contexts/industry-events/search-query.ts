const MAX_CHARACTERS = 512;
const MAX_WORDS = 32;

/** Matches dashes and brackets, followed by a quoted phrase or a run without spaces. */
const TOKEN_PATTERN = /([-(]*)("[^"]*"?|[^\s"]+)/g;
/** Everything that is not part of a word. SEARCH_FUNCTIONS replaces the same characters in records. */
const NON_WORD_PATTERN = /[^\p{L}\p{M}\p{Nd}]+/u;
/** Quotation marks that phones type in place of a straight one. */
const CURLY_QUOTES = /[“”„‟«»]/g;

export interface SearchQuery {
  /** The query for PostgreSQL's websearch_to_tsquery. It is empty when the search finds nothing. */
  text: string;
  /** A query for any of the words that must match. Matches are ranked by it. */
  words: string;
  /** Whether there are too many characters or words. Words in phrases count, and equal terms count once. */
  isTooLong: boolean;
}

/**
 * Parses a `q`: terms that must all match, quoted phrases, `-` before an excluded term, and `or` between alternatives. Only
 * a whole `or` and a dash before a term are operators. Every term is quoted, with spaces in place of its punctuation, so
 * that `node.js` is a phrase. An alternative that only excludes would visit the whole catalog, so it finds nothing instead.
 */
export function searchQuery(q: string): SearchQuery {
  // The length is checked first, because normalize() takes quadratic time over a run of combining marks.
  if (q.length > 2 * MAX_CHARACTERS || [...q].length > MAX_CHARACTERS) return { text: '', words: '', isTooLong: true };
  const alternatives = new Set<string>();
  const counted = new Map<string, number>();
  const ranked = new Set<string>();
  for (const terms of alternativesOf(q.includes('"') ? q : q.replace(CURLY_QUOTES, '"'))) {
    for (const term of terms) counted.set(term.key, term.words.length);
    const sought = terms.filter(({ isExcluded }) => !isExcluded);
    if (sought.length === 0) continue;
    for (const word of sought.flatMap(({ words }) => words)) ranked.add(`"${word}"`);
    const once = new Map(terms.map((term) => [`${term.isExcluded} ${term.key}`, termText(term)]));
    alternatives.add([...once.values()].join(' '));
  }
  const count = [...counted.values()].reduce((sum, length) => sum + length, 0);
  return {
    text: [...alternatives].join(' or '),
    words: [...ranked].join(' or '),
    isTooLong: count > MAX_WORDS,
  };
}

interface Term {
  words: string[];
  /** The words in a normalized spelling, by which equal terms are recognized. */
  key: string;
  isExcluded: boolean;
}

const termText = ({ words, isExcluded }: Term): string => `${isExcluded ? '-' : ''}"${words.join(' ')}"`;

function alternativesOf(q: string): Term[][] {
  const alternatives: Term[][] = [[]];
  for (const [, prefix = '', text = ''] of q.matchAll(TOKEN_PATTERN)) {
    if (prefix === '' && text.toLowerCase() === 'or') {
      alternatives.push([]);
      continue;
    }
    const words = text.split(NON_WORD_PATTERN).filter(Boolean);
    if (words.length === 0) continue;
    const key = words.join(' ').normalize().toLowerCase();
    alternatives.at(-1)?.push({ words, key, isExcluded: prefix.replaceAll('(', '').length % 2 === 1 });
  }
  return alternatives;
}
