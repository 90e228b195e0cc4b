// Charts as SVG text, for scripts/figures.mjs: horizontal bars and dots with a label at each value, in a light and a dark theme.

const THEMES = {
  light: {
    background: '#ffffff',
    border: '#d0d7de',
    grid: '#e4e8ec',
    text: '#1f2328',
    muted: '#59636e',
    series: ['#0860ca', '#b35900'],
  },
  dark: {
    background: '#0d1117',
    border: '#3d444d',
    grid: '#2a313a',
    text: '#f0f6fc',
    muted: '#9198a1',
    series: ['#58a6ff', '#f0883e'],
  },
};
export const THEME_NAMES = Object.keys(THEMES);

const WIDTH = 800;
const PADDING = 24;
const HEADER_HEIGHT = 62;
const LEGEND_HEIGHT = 26;
const AXIS_HEIGHT = 34;
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const FONT_SIZE = 13;
/** A generous estimate: fonts differ between viewers. */
const CHARACTER_WIDTH = 7;
const BAR_HEIGHT = 14;
const DOT_RADIUS = 6;

const escapeXml = (text) =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]);
const round = (value) => Math.round(value * 10) / 10;
const widthOf = (text) => text.length * CHARACTER_WIDTH;

/** @param options `halo` is the color around the letters, which keeps them legible on lines */
function text(content, { x, y, fill, halo, anchor = 'start', size = FONT_SIZE, weight = 400 }) {
  const around = halo ? ` stroke="${halo}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"` : '';
  const style = `fill="${fill}" text-anchor="${anchor}" font-size="${size}" font-weight="${weight}"${around}`;
  return `<text x="${round(x)}" y="${round(y)}" ${style}>${escapeXml(content)}</text>`;
}

function line({ x1, x2, y1, y2, stroke, width = 1 }) {
  return `<line x1="${round(x1)}" x2="${round(x2)}" y1="${round(y1)}" y2="${round(y2)}" stroke="${stroke}" stroke-width="${width}"/>`;
}

function rectangle({ x, y, width, height, fill, opacity = 1 }) {
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${height}" rx="2" fill="${fill}" fill-opacity="${opacity}"/>`;
}

/** The mark of a series: a disk for the first and a diamond for the second, so that color is not the only difference. */
function mark(series, x, y, fill) {
  if (series === 0) return `<circle cx="${round(x)}" cy="${round(y)}" r="${DOT_RADIUS}" fill="${fill}"/>`;
  const r = DOT_RADIUS + 1;
  return `<path d="M${round(x)} ${round(y - r)}l${r} ${r}l-${r} ${r}l-${r} -${r}z" fill="${fill}"/>`;
}

/** Values for about five lines across the plot, from zero to at least `max`. */
function ticksTo(max) {
  const magnitude = 10 ** Math.floor(Math.log10(max / 5));
  const step = [1, 2, 5, 10].map((factor) => factor * magnitude).find((size) => size * 5 >= max);
  const count = Math.ceil(max / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, n) => Number((n * step).toPrecision(6)));
}

/** The area in which values are drawn, and where each value and each row is. */
function layOut({ rows, max, series, valueWidth }, rowHeight) {
  const left = PADDING + Math.max(...rows.map(({ label }) => widthOf(label))) + 12;
  const right = WIDTH - PADDING - valueWidth;
  const top = HEADER_HEIGHT + (series.length > 1 ? LEGEND_HEIGHT : 0);
  const ticks = ticksTo(max);
  const end = ticks.at(-1);
  return {
    left,
    right,
    top,
    ticks,
    bottom: top + rows.length * rowHeight,
    toX: (value) => left + (value / end) * (right - left),
    toY: (row) => top + (row + 0.5) * rowHeight,
  };
}

function axis({ left, ticks, top, bottom, toX }, theme, format) {
  const lines = ticks.flatMap((tick) => [
    line({ x1: toX(tick), x2: toX(tick), y1: top, y2: bottom, stroke: theme.grid }),
    text(format(tick), { x: toX(tick), y: bottom + 18, fill: theme.muted, anchor: 'middle', size: 12 }),
  ]);
  return [...lines, line({ x1: left, x2: left, y1: top, y2: bottom, stroke: theme.muted })];
}

function legend(series, left, theme) {
  let x = left;
  return series.flatMap((name, index) => {
    const parts = [
      mark(index, x + DOT_RADIUS, HEADER_HEIGHT + 8, theme.series[index]),
      text(name, { x: x + 18, y: HEADER_HEIGHT + 12, fill: theme.series[index], weight: 600 }),
    ];
    x += 18 + widthOf(name) + 24;
    return parts;
  });
}

/** The frame of a chart: title, unit, and what readers of the screen hear. */
function frame({ id, title, subtitle, description }, theme, height, parts) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="${id}-title ${id}-description" font-family="${FONT}">`,
    `<title id="${id}-title">${escapeXml(title)}</title>`,
    `<desc id="${id}-description">${escapeXml(description)}</desc>`,
    `<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8" fill="${theme.background}" stroke="${theme.border}"/>`,
    text(title, { x: PADDING, y: 32, fill: theme.text, size: 16, weight: 600 }),
    text(subtitle, { x: PADDING, y: 52, fill: theme.muted }),
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

/**
 * Dots, one for each series in each row, with a line at the value that means "equal".
 * @param chart `{id, title, subtitle, description, series: [name], rows: [{label, values}], max, reference: {value, label}, format}`
 */
export function dotPlot(chart, themeName) {
  const theme = THEMES[themeName];
  const area = layOut({ ...chart, valueWidth: 40 }, 34);
  const { reference, rows, series, format } = chart;
  const { left, right, top, bottom, toX, toY } = area;
  const x = toX(reference.value);
  const parts = [
    ...axis(area, theme, String),
    line({ x1: x, x2: x, y1: top - 2, y2: bottom, stroke: theme.text, width: 1.5 }),
    text(reference.label, { x: x + 6, y: bottom + 32, fill: theme.text, size: 12 }),
    ...legend(series, PADDING, theme),
  ];
  rows.forEach(({ label, values }, row) => {
    const y = toY(row);
    parts.push(text(label, { x: left - 12, y: y + 4, fill: theme.text, anchor: 'end' }));
    parts.push(line({ x1: left, x2: right, y1: y, y2: y, stroke: theme.grid }));
    parts.push(line({ x1: toX(Math.min(...values)), x2: toX(Math.max(...values)), y1: y, y2: y, stroke: theme.muted }));
    values.forEach((value, index) => {
      // The smaller value has its label on the left, so that labels of near values do not cover each other.
      const isRight = value > Math.min(...values) || (index === 1 && values[0] === value);
      const offset = isRight ? DOT_RADIUS + 6 : -DOT_RADIUS - 6;
      const anchor = isRight ? 'start' : 'end';
      parts.push(mark(index, toX(value), y, theme.series[index]));
      parts.push(
        text(format(value), { x: toX(value) + offset, y: y + 4, fill: theme.text, halo: theme.background, anchor }),
      );
    });
  });
  return frame(chart, theme, bottom + AXIS_HEIGHT + 10, parts);
}

function bar({ low, high = low, limit, text: label, color }, { series, y, area, theme }) {
  const { left, toX } = area;
  const fill = theme.series[color ?? series];
  const width = Math.max(2, toX(low) - left);
  const parts = [rectangle({ x: left, y, width, height: BAR_HEIGHT, fill })];
  if (high > low) {
    const range = { x: toX(low), width: toX(high) - toX(low), opacity: 0.45 };
    parts.push(rectangle({ ...range, y, height: BAR_HEIGHT, fill }));
  }
  if (limit !== undefined) {
    const [top, bottom] = [y - 5, y + BAR_HEIGHT + 5];
    parts.push(line({ x1: toX(limit), x2: toX(limit), y1: top, y2: bottom, stroke: theme.text, width: 2 }));
  }
  const isLabelBehindLimit = limit !== undefined && toX(limit) - toX(high) < widthOf(label) + 16;
  const x = isLabelBehindLimit ? toX(Math.max(limit, high)) : toX(high);
  parts.push(text(label, { x: x + 8, y: y + BAR_HEIGHT - 3, fill: theme.text, halo: theme.background }));
  return parts;
}

/**
 * Bars from zero, one for each series in each row. A bar with `high` shows a range, one with `limit` a mark.
 * A bar has the color of its series unless `color` is the number of another one.
 * @param chart `{id, title, subtitle, description, series: [name], rows: [{label, bars: [{low, high?, limit?, text, color?}]}], max, valueWidth}`
 */
export function barChart(chart, themeName) {
  const theme = THEMES[themeName];
  const { rows, series } = chart;
  const step = BAR_HEIGHT + 4;
  const area = layOut(chart, series.length * step + 14);
  const parts = [
    ...axis(area, theme, (tick) => tick.toLocaleString('en-US')),
    ...(series.length > 1 ? legend(series, PADDING, theme) : []),
  ];
  rows.forEach(({ label, bars }, row) => {
    const y = area.toY(row);
    parts.push(text(label, { x: area.left - 12, y: y + 4, fill: theme.text, anchor: 'end' }));
    bars.forEach((one, index) => {
      const top = y - (series.length * step) / 2 + index * step + 2;
      parts.push(...bar(one, { series: index, y: top, area, theme }));
    });
  });
  return frame(chart, theme, area.bottom + AXIS_HEIGHT, parts);
}
