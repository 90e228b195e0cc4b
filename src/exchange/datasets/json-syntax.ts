/**
 * The index at which a text stops being JSON: its length where it ends too early. `JSON.parse` does not say it for every
 * error.
 */
export function jsonErrorIndex(text: string): number {
  const position = errorPosition(text);
  if (position !== undefined) return position;
  let valid = 0;
  let invalid = text.length + 1;
  while (valid + 1 < invalid) {
    const middle = Math.floor((valid + invalid) / 2);
    if (errorPosition(text.slice(0, middle)) === middle) valid = middle;
    else invalid = middle;
  }
  return valid;
}

/** Where `JSON.parse` says that a text is wrong: its length if it ends too early or is right; undefined for a wrong token. */
function errorPosition(text: string): number | undefined {
  try {
    JSON.parse(text);
    return text.length;
  } catch (error) {
    const { message } = error as Error;
    if (message.startsWith('Unexpected end')) return text.length;
    // A message about a token quotes the text, and has no position.
    const [, position] = /^(?!Unexpected token).* position (\d+)/.exec(message) ?? [];
    return position === undefined ? undefined : Number(position);
  }
}
