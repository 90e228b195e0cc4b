/** Columns of a line in the listing of SQL. */
const WIDTH = 120;

/** A piece of SQL in which no line may be broken, or one character. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|[^]/g;

/** Words with which a part of a query begins, each on a line of its own where the query is too long for one. */
const CLAUSE = /^(?:select|from|where|group by|order by|limit|union|returning)\b/i;
/** Words with which parts of such a part begin. */
const CONDITION = /^(?:(?:left |cross )?join|and|or)\b/i;

const pad = (indent: number): string => ' '.repeat(indent);

/** The words of a line, each with the parentheses that are opened in it and closed again. */
function wordsOf(text: string): string[] {
  const words = [''];
  let depth = 0;
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '(') depth++;
    if (token === ')') depth = Math.max(0, depth - 1);
    if (token === ' ' && depth === 0) words.push('');
    else words.push(`${words.pop() ?? ''}${token}`);
  }
  return words.filter((word) => word !== '');
}

/** Words, joined to the parts that begin with one of certain words. */
function partsOf(words: string[], begins: RegExp): string[] {
  const parts: string[][] = [[]];
  words.forEach((word, index) => {
    const isContinued = /^(?:left|cross|distinct|rows)$/i.test(words[index - 1] ?? '');
    if (index > 0 && !isContinued && begins.test(words.slice(index, index + 2).join(' '))) parts.push([]);
    parts.at(-1)?.push(word);
  });
  return parts.map((part) => part.join(' '));
}

/** The first parentheses of a word that are opened and closed in it: what is before, in and after them. */
function parenthesesOf(word: string): [before: string, inner: string, after: string] | undefined {
  let depth = 0;
  let start = -1;
  let at = 0;
  for (const [token] of word.matchAll(TOKENS)) {
    if (token === '(' && depth++ === 0) start = at;
    if (token === ')' && --depth === 0) return [word.slice(0, start + 1), word.slice(start + 1, at), word.slice(at)];
    at += token.length;
  }
  return undefined;
}

/** Words, joined to the entries of a list that ends with commas, as far as such an entry fits into a line. */
function entriesOf(words: string[], indent: number): string[] {
  const entries: string[][] = [[]];
  for (const word of words) {
    entries.at(-1)?.push(word);
    if (word.endsWith(',')) entries.push([]);
  }
  return entries.flatMap((entry) => {
    const text = entry.join(' ');
    return text !== '' && indent + text.length <= WIDTH ? [text] : entry;
  });
}

/** Fills lines with entries. Parentheses that do not fit into a line have lines of their own between them. */
function filled(words: string[], indent: number): string[] {
  const lines = [pad(indent)];
  for (const entry of entriesOf(words, indent + 2)) {
    const line = lines.at(-1) ?? '';
    const next = line.trim() === '' ? line + entry : `${line} ${entry}`;
    if (next.length <= WIDTH) {
      lines.splice(-1, 1, next);
      continue;
    }
    const parentheses = parenthesesOf(entry);
    if (parentheses && indent + 2 + entry.length > WIDTH) {
      const [before, inner, after] = parentheses;
      const isEmpty = line.trim() === '';
      const hasRoom = isEmpty || line.length + before.length < WIDTH;
      const own = hasRoom ? indent : indent + 2;
      if (hasRoom) lines.splice(-1, 1, isEmpty ? line + before : `${line} ${before}`);
      else lines.push(pad(own) + before);
      lines.push(...rendered(inner, own + 2), ...filled([after], own));
    } else {
      lines.push(pad(indent + 2) + entry);
    }
  }
  return lines.filter((line) => line.trim() !== '');
}

/** SQL in lines of at most the width, broken where a part of a query ends if there is such a place. */
function rendered(text: string, indent: number): string[] {
  if (indent + text.length <= WIDTH) return [pad(indent) + text];
  const clauses = partsOf(wordsOf(text), CLAUSE);
  if (clauses.length > 1) return clauses.flatMap((clause) => rendered(clause, indent));
  const [first = '', ...others] = partsOf(wordsOf(text), CONDITION);
  if (others.length === 0) return filled(wordsOf(text), indent);
  return [first, ...others].flatMap((part, index) => rendered(part, index === 0 ? indent : indent + 2));
}

/** How many more parentheses are opened than closed. */
function openIn(line: string): number {
  const tokens = [...line.matchAll(TOKENS)].map(([token]) => token);
  return tokens.filter((token) => token === '(').length - tokens.filter((token) => token === ')').length;
}

/** Lines of which none is too long. One that is too long is laid out with those that close its parentheses. */
function wrapped([line, ...others]: string[]): string[] {
  if (line === undefined) return [];
  if (line.length <= WIDTH || line.includes('--')) return [line, ...wrapped(others)];
  let [whole, rest] = [line, others];
  while (openIn(whole) > 0 && rest.length > 0 && !rest[0]?.includes('--')) {
    whole = `${whole} ${rest[0]?.trim()}`;
    rest = rest.slice(1);
  }
  const indent = whole.search(/\S/);
  return [...rendered(whole.slice(indent), indent), ...wrapped(rest)];
}

const indentOf = (line: string): number => Math.max(0, line.search(/\S/));
const withoutBlanks = (text: string): string => text.replace(/\s/g, '');

/**
 * SQL without the indentation that all lines share, in lines of at most 120 columns.
 * @throws when anything but blanks is not as it was
 */
export function formatSql(sql: string): string {
  const lines = sql.replace(/^\s*\n|\s+$/g, '').split('\n');
  // The first line may follow an opening quotation mark; a fragment of the others may be indented by less.
  const [first = '', ...others] = lines;
  const indents = (first.startsWith(' ') ? [first] : others.filter((line) => line.trim())).map(indentOf);
  const shared = indents.length > 0 ? Math.min(...indents) : 0;
  const outdented = [
    first.trimStart(),
    ...others.map((line) => line.slice(Math.min(shared, indentOf(line))).trimEnd()),
  ];
  const text = wrapped(outdented).join('\n');
  if (withoutBlanks(text) !== withoutBlanks(sql)) throw new Error(`The layout of SQL changes it: ${text}`);
  return text;
}

/** A comment, in lines of at most 120 columns. */
export const toComment = (text: string): string =>
  filled(text.split(' '), 0)
    .map((line) => `-- ${line.trim()}`)
    .join('\n');
