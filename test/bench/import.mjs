// npm run bench import: what does an import of leads take, beside an importer that only writes the rows?
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { dataset } from './dataset.mjs';
import { cpuMeter, fixed, median, memoryMeter, print } from './load.mjs';
import { makeOrganization, OPERATOR, readOptions, run, startServices } from '../../scripts/services.mjs';

const options = readOptions({
  rounds: { type: 'string', default: '3' },
  leads: { type: 'string', default: '50000' },
});
const MINIMAL = fileURLToPath(new URL('minimal-import.mjs', import.meta.url));

/** The minimal importer's tables have the same columns, indexes and foreign keys, and nothing that a trigger keeps. */
const BARE = `alter table leads disable trigger user, alter document set default '';
  alter table lead_tags disable trigger user`;

function* recordsOf(organization, ...sections) {
  for (const each of dataset(organization, options)) {
    if (sections.includes(each.section)) yield each;
    if (each.section === 'leadActivityEvents') return; // three for each lead, and nobody asks for them
  }
}

/** Leads with phone numbers and tags, in no event and no activation, as NDJSON in pieces. */
function* linesOf(organization) {
  let lines = '';
  for (const { section, record } of recordsOf(organization, 'leads')) {
    lines += `${JSON.stringify({ section, record: { ...record, activations: [], events: [] } })}\n`;
    if (lines.length < 65_536) continue;
    yield lines;
    lines = '';
  }
  yield lines;
}

/** Imports the leads of an organization by a program, which reads them from standard input. */
async function imported({ services, cpu }, organization, args) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...services.environment },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  services.defer(async () => child.kill());
  child.stdin.on('error', () => undefined); // its exit status tells
  const stopMemory = memoryMeter(child.pid);
  const [before, started] = [await cpu(), performance.now()];
  Readable.from(linesOf(organization)).pipe(child.stdin);
  const [status] = await once(child, 'close');
  const seconds = (performance.now() - started) / 1000;
  if (status !== 0) throw new Error(`${args.join(' ')}: exit status ${status}`);
  const postgres = ((await cpu()).postgres - before.postgres) * (1000 / options.leads);
  return { rate: options.leads / seconds, postgres, memory: stopMemory().mostMemory };
}

async function benchmark(defer) {
  const sides = {};
  for (const name of ['minimal', 'lanyard']) {
    const services = await startServices(options, defer);
    sides[name] = { services, cpu: await cpuMeter(services), seen: [] };
  }
  const { minimal, lanyard } = sides;
  for (let round = 0; round < options.rounds; round++) {
    for (const side of [minimal, lanyard]) {
      const organization = round + 1;
      const { id } = await makeOrganization(
        side.services,
        `Round ${round}`,
        recordsOf(organization, 'users', 'tagGroups'),
      );
      if (side === minimal && round === 0) await side.services.pool.query(BARE);
      const args = side === minimal ? [MINIMAL, id] : [OPERATOR, 'import', '-', '--organization', id, '--json'];
      side.seen.push(await imported(side, organization, args));
      await side.services.pool.query('vacuum analyze');
    }
  }
  const count =
    'select (select count(*) from leads) || $$ leads, $$ || (select count(*) from lead_tags) || $$ tags$$ as stored';
  const [of, beside] = await Promise.all([minimal, lanyard].map(async ({ services }) => services.pool.query(count)));
  const middle = ({ seen }, what) => fixed(median(seen.map((each) => each[what])), 0);
  const ratio = (what) => fixed(median(lanyard.seen.map((each, round) => each[what] / minimal.seen[round][what])), 2);
  const row = (title, what) => [title, middle(minimal, what), middle(lanyard, what), ratio(what)];
  print(`Import of ${options.leads} leads, medians of ${options.rounds} rounds`, [
    ['', 'minimal', 'Lanyard', 'ratio'],
    row('leads a second', 'rate'),
    row('CPU of PostgreSQL a lead, µs', 'postgres'),
    row('memory of the importer, MiB at most', 'memory'),
  ]);
  const isSame = of.rows[0].stored === beside.rows[0].stored;
  console.log(
    `\n${isSame ? 'Both' : `The minimal one stored ${of.rows[0].stored}, Lanyard`} stored ${beside.rows[0].stored}.`,
  );
  return isSame ? 0 : 1;
}

await run(benchmark);
