// npm run figures: draws the charts of docs/performance.md and docs/reliability.md from the measured numbers in docs/figures/*.json,
// writes the tables below them, and marks each figure that is older than its code (ages.mjs). With --check it writes nothing, names what
// is out of date, and exits with status 1.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { agesOf, isOlder } from './ages.mjs';
import { barChart, dotPlot, THEME_NAMES } from './charts.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DOCS = join(ROOT, 'docs');
const AGES = 'figures/ages.json';
const isCheck = process.argv.includes('--check');
const read = (path) => readFileSync(join(DOCS, path), 'utf8');
const performance = JSON.parse(read('figures/performance.json'));
const reliability = JSON.parse(read('figures/reliability.json'));

const table = (head, align, rows) => [head, align, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
const ratio = (value) => value.toFixed(2);
const share = (value) => (value < 0.1 ? String(value) : ratio(value));
const range = ({ low, high }) => (low === high ? share(low) : `${share(low)} to ${share(high)}`);
const count = (value) => value.toLocaleString('en-US');

/** When a figure was measured, and of what: one form for all sentences of the pages. */
const measuredOn = ({ date, commit, code }) =>
  `Measured on ${date}, commit ${commit}, of ${code.map((path) => `\`${path}\``).join(', ')}.`;
const MEASURED_ON =
  /Measured on [\d-]+, commit (\w+), of ((?:`[^`]+`(?:,\s)?)+)\.(?:\s\*\*Older than its code\.\*\*)?/g;
const figureIn = ([, commit, paths]) => ({ commit, code: [...paths.matchAll(/`([^`]+)`/g)].map(([, path]) => path) });

const written = read('performance.md').replace(/<!-- figure: [^]*?<!-- end of figure -->/g, '');
const measuredFigures = [
  ...reliability.filter(({ commit }) => commit),
  ...Object.values(performance),
  ...[...written.matchAll(MEASURED_ON)].map(figureIn),
];
const known = JSON.parse(read(AGES));
const ages = agesOf(measuredFigures, ROOT, isCheck ? known.comparedWith : 'HEAD') ?? known;

/** The text with a mark after each sentence of a figure that is older than its code. */
const marked = (text) =>
  text.replace(MEASURED_ON, (sentence, ...groups) => {
    const plain = sentence.replace(/\s\*\*Older than its code\.\*\*$/, '');
    return isOlder(ages, figureIn([sentence, ...groups])) ? `${plain} **Older than its code.**` : plain;
  });

function comparison(figure) {
  const { date, conditions, rows } = figure;
  const description = rows
    .map(
      ({ request, handWritten, nest }) =>
        `${request}: ${ratio(handWritten)} of the hand-written server, ${ratio(nest)} of NestJS`,
    )
    .join('; ');
  return {
    draw: dotPlot,
    title: 'Requests per second of Lanyard, relative to two minimal servers',
    subtitle: `More is better. ${date}, ${conditions}`,
    description: `${description}.`,
    series: ['relative to a hand-written server', 'relative to a bare NestJS'],
    rows: rows.map(({ request, handWritten, nest }) => ({ label: request, values: [handWritten, nest] })),
    max: Math.max(...rows.flatMap(({ handWritten, nest }) => [handWritten, nest])) * 1.05,
    reference: { value: 1, label: '1 = as fast' },
    format: ratio,
    caption: `Requests per second of Lanyard, divided by those of the other server. ${measuredOn(figure)} ${conditions}.`,
    table: table(
      ['request', 'relative to the hand-written server', 'relative to a bare NestJS'],
      ['---', '---:', '---:'],
      rows.map(({ request, handWritten, nest }) => [`\`${request}\``, ratio(handWritten), ratio(nest)]),
    ),
  };
}

function products(figure) {
  const { date, conditions, rows } = figure;
  return {
    draw: barChart,
    title: 'Requests per second of Lanyard, as a multiple of Directus and Strapi',
    subtitle: `More is better. ${date}, ${conditions}`,
    description: `${rows.map(({ request, directus, strapi }) => `${request}: ${directus} times Directus, ${strapi} times Strapi`).join('; ')}.`,
    series: ['multiple of Directus', 'multiple of Strapi'],
    rows: rows.map(({ request, directus, strapi }) => ({
      label: request,
      bars: [directus, strapi].map((times) => ({ low: times, text: `${times}×` })),
    })),
    max: Math.max(...rows.flatMap(({ directus, strapi }) => [directus, strapi])),
    valueWidth: 40,
    caption: `Requests per second of Lanyard, divided by those of the other product. ${measuredOn(figure)} ${conditions}.`,
    table: table(
      ['request', 'relative to Directus', 'relative to Strapi'],
      ['---', '---:', '---:'],
      rows.map(({ request, directus, strapi }) => [request, `${directus} ×`, `${strapi} ×`]),
    ),
  };
}

function scale(figure) {
  const { date, rows } = figure;
  return {
    draw: barChart,
    title: 'Requests per second for a page of a million records',
    subtitle: `1 = the first page of a list of 1,000 records. More is better. ${date}`,
    description: `${rows.map((row) => `${row.pages}: ${range(row)}`).join('; ')}.`,
    series: ['requests per second'],
    rows: rows.map((row) => ({
      label: row.pages,
      bars: [{ low: row.low, high: row.high, text: range(row), color: row.pages.startsWith('Lanyard') ? 0 : 1 }],
    })),
    max: Math.max(...rows.map(({ high }) => high)),
    valueWidth: 90,
    caption: `Requests per second, divided by those for the first page of 1,000 records. ${measuredOn(figure)}`,
    table: table(
      ['page of a million records', 'relative to the first page of 1,000'],
      ['---', '---:'],
      rows.map((row) => [row.pages, range(row)]),
    ),
  };
}

const rowsWith = (name) => reliability.flatMap((row) => (row[name] ? [row[name]] : []));

function writes() {
  const rows = rowsWith('writes');
  const sum = (name) => count(rows.reduce((total, row) => total + row[name], 0));
  return {
    draw: barChart,
    title: `Acknowledged writes after faults: ${sum('checked')} checked, ${sum('lost')} lost`,
    subtitle: 'Writes that were acknowledged while the fault happened again and again, and were read back at the end',
    description: `${rows.map(({ label, checked, lost }) => `${label}: ${count(checked)} checked, ${count(lost)} lost`).join('; ')}.`,
    series: ['writes'],
    rows: rows.map(({ label, checked, lost }) => ({
      label,
      bars: [{ low: checked, text: `${count(checked)}, ${count(lost)} lost` }],
    })),
    max: Math.max(...rows.map(({ checked }) => checked)),
    valueWidth: 110,
  };
}

function recovery() {
  const rows = rowsWith('slowest');
  const textOf = ({ seconds, limitSeconds }) =>
    `${seconds.toFixed(2)} s${limitSeconds === undefined ? '' : `, limit ${limitSeconds} s`}`;
  return {
    draw: barChart,
    title: 'Longest time measured, in seconds, until …',
    subtitle: 'Less is better. A vertical mark shows the promised limit',
    description: `${rows.map((row) => `Until ${row.label}: ${textOf(row)}`).join('; ')}.`,
    series: ['seconds'],
    rows: rows.map((row) => ({
      label: row.label,
      bars: [{ low: row.seconds, limit: row.limitSeconds, text: textOf(row) }],
    })),
    max: Math.max(...rows.map(({ seconds, limitSeconds = 0 }) => Math.max(seconds, limitSeconds))),
    valueWidth: 130,
  };
}

const KEPT = { true: 'yes', false: '**no**', null: 'not yet' };

function promises() {
  const head = ['promise', 'target', 'measured', 'kept', 'command', 'when, commit'];
  const rows = reliability.map((row) => {
    const { promise, target, measured, kept, command, date, commit } = row;
    const when = [date, commit, isOlder(ages, row) && '**older than its code**'].filter(Boolean).join(', ');
    return [promise, target, measured, KEPT[kept], `\`${command}\``, when];
  });
  return {
    table: table(
      head,
      head.map(() => '---'),
      rows,
    ),
  };
}

/** The figures of each page: each has a chart, a table or both, between a pair of comments that has its id. */
const PAGES = {
  'performance.md': {
    comparison: comparison(performance.comparison),
    products: products(performance.products),
    scale: scale(performance.scale),
  },
  'reliability.md': { writes: writes(), recovery: recovery(), promises: promises() },
};

const fileOf = (id, theme) => `figures/${id}-${theme}.svg`;

function section(id, { draw, title, description, caption, table: rows }) {
  const picture = [
    '<picture>',
    `  <source media="(prefers-color-scheme: dark)" srcset="${fileOf(id, 'dark')}" />`,
    `  <img src="${fileOf(id, 'light')}" alt="${`${title}. ${description}`.replaceAll('"', '&quot;')}" />`,
    '</picture>',
  ];
  return [draw && picture.join('\n'), caption, rows].filter(Boolean).join('\n\n');
}

/** All files, by their paths in docs/. */
function files() {
  const texts = new Map();
  for (const [page, figures] of Object.entries(PAGES)) {
    let text = read(page);
    for (const [id, figure] of Object.entries(figures)) {
      const [begin, end] = [`<!-- figure: ${id} -->`, '<!-- end of figure -->'];
      const start = text.indexOf(begin);
      if (start < 0) throw new Error(`docs/${page} has no place for the figure ${id}: ${begin}`);
      const rest = text.slice(text.indexOf(end, start));
      text = `${text.slice(0, start)}${begin}\n\n${section(id, figure)}\n\n${rest}`;
      const { draw } = figure;
      if (draw) for (const theme of THEME_NAMES) texts.set(fileOf(id, theme), draw({ id, ...figure }, theme));
    }
    texts.set(page, marked(text));
  }
  texts.set(AGES, `${JSON.stringify(ages, null, 2)}\n`);
  return texts;
}

for (const [path, text] of files()) {
  if (existsSync(join(DOCS, path)) && read(path) === text) continue;
  if (!isCheck) writeFileSync(join(DOCS, path), text);
  else {
    console.error(`docs/${path} is out of date. Run: npm run figures`);
    process.exitCode = 1;
  }
}
