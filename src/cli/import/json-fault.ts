const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
/** A token of JSON, of a string the quote that opens it, and the white space before it. */
const TOKEN = new RegExp(String.raw`[ \t\n\r]*([[\]{}:,"]|${NUMBER}|true|false|null)`, 'y');
/** Within a string: one at a time, because a group that is repeated millions of times exhausts the stack of a RegExp. */
const CHARACTERS_OR_ESCAPE = /[ !#-[\]-\uffff]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** What may stand next: a value, the same or the end of the array, and so on. */
type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end' | 'nothing';

/**
 * Where a text stops being JSON, for texts that JSON.parse refuses: its own messages quote the text, which may hold
 * personal data, and do not always tell the place.
 * @returns line and column of the first token that is wrong or missing, from 1
 */
export function jsonFault(text: string): { line: number; column: number } {
  const open: string[] = [];
  let expected: Expected = 'value';
  let end = 0;
  for (;;) {
    const token = tokenAt(text, end);
    const next: Expected | undefined = token && follow(expected, token.text, open);
    if (!token || next === undefined) return placeOf(text, end);
    expected = next;
    end = token.end;
  }
}

/** The next token, of a string only the quote that opens it; undefined where there is none. */
function tokenAt(text: string, start: number): { text: string; end: number } | undefined {
  TOKEN.lastIndex = start;
  const token = TOKEN.exec(text)?.[1];
  if (token !== '"') return token === undefined ? undefined : { text: token, end: TOKEN.lastIndex };
  let end = TOKEN.lastIndex;
  CHARACTERS_OR_ESCAPE.lastIndex = end;
  while (CHARACTERS_OR_ESCAPE.test(text)) end = CHARACTERS_OR_ESCAPE.lastIndex;
  return text[end] === '"' ? { text: token, end: end + 1 } : undefined;
}

/** What may stand after the token; undefined when the token itself may not stand here. */
function follow(expected: Expected, token: string, open: string[]): Expected | undefined {
  const afterValue = (): Expected => (open.length > 0 ? ', or end' : 'nothing');
  if (expected === ':') return token === ':' ? 'value' : undefined;
  if (expected === 'key' || expected === 'key or }') {
    if (token === '"') return ':';
    if (expected === 'key' || token !== '}') return undefined;
    open.pop();
    return afterValue();
  }
  const isEnd = token === open.at(-1);
  if (isEnd && (expected === 'value or ]' || expected === ', or end')) {
    open.pop();
    return afterValue();
  }
  if (expected === ', or end') return token !== ',' ? undefined : open.at(-1) === '}' ? 'key' : 'value';
  if (expected === 'nothing' || /^[\]}:,]/.test(token)) return undefined;
  if (token === '{' || token === '[') open.push(token === '{' ? '}' : ']');
  return token === '{' ? 'key or }' : token === '[' ? 'value or ]' : afterValue();
}

function placeOf(text: string, end: number): { line: number; column: number } {
  const offset = end + (/^[ \t\n\r]*/.exec(text.slice(end))?.[0].length ?? 0);
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
