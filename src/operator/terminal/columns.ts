/** Characters that take two columns of a terminal. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;

const graphemes = new Intl.Segmenter();

/** How many columns of a terminal a text takes. */
export const displayWidth = (text: string): number =>
  [...graphemes.segment(text)].reduce((width, { segment }) => width + (WIDE.test(segment) ? 2 : 1), 0);

/** Shortens a text that does not fit. */
export function fit(text: string, width: number): string {
  if (text.length <= width && !WIDE.test(text)) return text;
  let shortened = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text.slice(0, 4 * width))) {
    used += displayWidth(segment);
    if (used > width - 1) return displayWidth(text.slice(0, 4 * width)) <= width ? text : `${shortened}…`;
    shortened += segment;
  }
  return shortened;
}

const GAP = '  ';

/**
 * Formats rows below their headers in one line each. The first columns take a quarter of the width at most, and the last one
 * what is left.
 */
export function formatColumns(headers: string[], rows: string[][], width: number): string[] {
  const last = headers.length - 1;
  const all = [headers, ...rows];
  const widths = headers.map((_, index) => {
    const widest = all.reduce((most, row) => Math.max(most, displayWidth(row[index] ?? '')), 0);
    return Math.min(widest, Math.floor(width / 4));
  });
  const used = widths.slice(0, last).reduce((sum, each) => sum + each + GAP.length, 0);
  return all.map((row) => {
    const cells = row.map((cell, index) => {
      if (index === last) return fit(cell, Math.max(10, width - used));
      const shown = fit(cell, widths[index]!);
      return shown + ' '.repeat(Math.max(0, widths[index]! - displayWidth(shown)));
    });
    return cells.join(GAP).trimEnd();
  });
}
