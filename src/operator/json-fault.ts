const STRING = String.raw`"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*"`;
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
/** A token of JSON, and the white space before it. */
const TOKEN = new RegExp(String.raw`[ \t\n\r]*([[\]{}:,]|${STRING}|${NUMBER}|true|false|null)`, 'y');

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
    TOKEN.lastIndex = end;
    const token = TOKEN.exec(text)?.[1];
    const next: Expected | undefined = token === undefined ? undefined : follow(expected, token, open);
    if (next === undefined) return placeOf(text, end);
    expected = next;
    end = TOKEN.lastIndex;
  }
}

/** What may stand after the token; undefined when the token itself may not stand here. */
function follow(expected: Expected, token: string, open: string[]): Expected | undefined {
  const afterValue = (): Expected => (open.length > 0 ? ', or end' : 'nothing');
  if (expected === ':') return token === ':' ? 'value' : undefined;
  if (expected === 'key' || expected === 'key or }') {
    if (token.startsWith('"')) return ':';
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
