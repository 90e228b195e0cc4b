import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import ts from 'typescript';

const SOURCES = join(__dirname, '../../src');

interface Expression {
  place: string;
  source: string;
  flags: string;
}

/** The regular expressions that stand in a source file. */
function expressionsIn(name: string): Expression[] {
  const file = ts.createSourceFile(name, readFileSync(join(SOURCES, name), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Expression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      const end = node.text.lastIndexOf('/');
      found.push({ place: `${name}:${line}`, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const namesOfSources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);
const all = namesOfSources.flatMap(expressionsIn);

/** What is repeated: blanks, marks, quotes, digits, separators, and pairs of them. */
const PUMPS = [
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\u00a0',
  '\u200b',
  '\u0301',
  '😀',
  '"',
  "'",
  '0',
  'a',
  'E',
  '=',
  ';',
  ',',
  '.',
  '-',
  '+',
  '#',
  '@',
  '/',
  ':',
  '[',
  '(',
  '{',
  '\\',
  '$',
  '_',
  '\0',
  ' "',
  '"a',
  '; ',
  ' =',
  '0.',
  'a.',
  'a@',
  '[0]',
  '#0',
  'a b',
];

/**
 * Tries an expression in a thread of its own, since nothing else could end it. Inputs of 32 KB show which ones cost it the
 * most, and these are tried with 1 MB: a quadratic expression needs minutes for them, and a linear one milliseconds.
 */
const TRIAL = `
  const { parentPort } = require('node:worker_threads');
  const SIZES = { first: 32_768, full: 1_048_576 };
  parentPort.on('message', ({ source, flags, pumps }) => {
    const expression = new RegExp(source, flags.includes('g') ? flags : flags + 'g');
    const own = source.replace(/\\\\./g, '');
    const inputs = [...new Set([...pumps, ...own])].flatMap((pump) =>
      [['', '!'], ['a', '!'], ['', ''], ['"', '"']].map(([before, after]) => ({ pump, before, after })),
    );
    const millisecondsFor = ({ pump, before, after }, size) => {
      const text = before + pump.repeat(size / pump.length) + after;
      const begun = performance.now();
      text.replace(expression, '');
      return performance.now() - begun;
    };
    const tried = inputs.map((input) => ({ input, milliseconds: millisecondsFor(input, SIZES.first) }));
    const worst = tried.sort((one, other) => other.milliseconds - one.milliseconds).slice(0, 3);
    parentPort.postMessage(Math.max(...worst.map(({ input }) => millisecondsFor(input, SIZES.full))));
  });`;

/** For a machine that is busy with much else. */
const LIMIT_MS = 20_000;

/** Those that do not finish within the limit. */
async function slowOf(expressions: Expression[], limitMs: number): Promise<string[]> {
  const slow: string[] = [];
  let worker = new Worker(TRIAL, { eval: true });
  for (const { place, source, flags } of expressions) {
    worker.postMessage({ source, flags, pumps: PUMPS });
    const isDone = await once(worker, 'message', { signal: AbortSignal.timeout(limitMs) }).catch((error: Error) => {
      if (error.name !== 'AbortError') throw error;
    });
    if (isDone) continue;
    slow.push(`${place} /${source}/${flags}`);
    await worker.terminate();
    worker = new Worker(TRIAL, { eval: true });
  }
  await worker.terminate();
  return slow;
}

/** A file, a header or a query of one megabyte must not hold the process. */
describe('the regular expressions of the sources', () => {
  it('are found, wherever they stand', () => {
    const places = all.map(({ place }) => place.replace(/:\d+$/, ''));
    expect(places).toEqual(
      expect.arrayContaining([
        'exchange/csv/csv-values.ts',
        'contexts/leads/lead.csv.ts',
        'http/pipeline/preferences.ts',
      ]),
    );
    expect(all.length).toBeGreaterThan(80);
  });

  it('take no more than linear time for 1 MB of anything', async () => {
    expect(await slowOf(all, LIMIT_MS)).toEqual([]);
  }, 600_000);

  it('would be told if one did', async () => {
    const quadratic = { place: 'here', source: String.raw`\s+$`, flags: 'u' };
    expect(await slowOf([quadratic], 2_000)).toEqual([String.raw`here /\s+$/u`]);
  }, 120_000);
});
