/** Characters that take two columns of a terminal. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;

/** Characters of scripts that run from right to left. */
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;

/** Has no width, and keeps the order of what follows a text that runs from right to left. */
const LEFT_TO_RIGHT_MARK = '\u200e';

const graphemes = new Intl.Segmenter();

const widthOf = (grapheme: string): number => {
  if (grapheme === LEFT_TO_RIGHT_MARK) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
};

/** How many columns of a terminal a text takes. */
export const displayWidth = (text: string): number =>
  [...graphemes.segment(text)].reduce((width, { segment }) => width + widthOf(segment), 0);

/** Shortens a text that does not fit. */
export function fit(text: string, width: number): string {
  const start = text.slice(0, 4 * width);
  if (start === text && displayWidth(text) <= width) return text;
  let shortened = '';
  let used = 0;
  for (const { segment } of graphemes.segment(start)) {
    used += widthOf(segment);
    if (used > width - 1) break;
    shortened += segment;
  }
  return `${shortened}…`;
}

/** Keeps a text that runs from right to left from changing the order of what stands after it. */
export const isolate = (text: string): string => (RIGHT_TO_LEFT.test(text) ? text + LEFT_TO_RIGHT_MARK : text);

/** Fills lines with texts, as many as fit. Each text is shorter than a line. */
function fillLines(texts: string[], width: number): string[] {
  const lines: string[] = [];
  for (const text of texts) {
    const joined = lines.length > 0 ? `${lines.at(-1)}, ${text}` : text;
    if (lines.length > 0 && displayWidth(joined) <= width) lines[lines.length - 1] = joined;
    else lines.push(text);
  }
  return lines;
}

const GAP = '  ';

/** A row of a table: its cells, and texts that stand after them. */
interface RowWithTexts {
  cells: string[];
  texts: string[];
}

/** Texts stand on lines of their own if there are fewer columns behind the cells. */
const MIN_TEXTS_WIDTH = 40;

/** How wide a text of a row may be at most. */
export const maxTextWidth = (width: number): number => Math.floor(width / 3) - 4;

/**
 * Formats rows below their headers. A cell takes a quarter of the width at most. The texts of a row stand behind its cells,
 * on several lines if one is not enough, or below them.
 */
export function formatColumns(headers: string[], rows: RowWithTexts[], width: number): string[] {
  const names = headers.slice(0, -1);
  const all = [{ cells: names, texts: headers.slice(-1) }, ...rows];
  const widths = names.map((_, index) => {
    const widest = all.reduce((most, { cells }) => Math.max(most, displayWidth(cells[index] ?? '')), 0);
    return Math.min(widest, Math.floor(width / 4));
  });
  const indent = widths.reduce((sum, each) => sum + each + GAP.length, 0);
  return all.flatMap(({ cells, texts }) => {
    const shown = cells.map((cell, index) => {
      const text = fit(cell, widths[index]!);
      return isolate(text) + ' '.repeat(widths[index]! - displayWidth(text));
    });
    const [first = '', ...others] = fillLines(texts, width - indent);
    const isBehind =
      width - indent >= MIN_TEXTS_WIDTH || (others.length === 0 && displayWidth(first) <= width - indent);
    const below = isBehind ? others : fillLines(texts, width - 2 * GAP.length);
    const line = [...shown, isBehind ? first : ''].join(GAP).trimEnd();
    return [line, ...below.map((each) => ' '.repeat(isBehind ? indent : 2 * GAP.length) + each)];
  });
}
