// CPU seconds of commands of this checkout and of another one, in turns. Both must be built.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { against: { type: 'string' }, rounds: { type: 'string', default: '5' } },
});
if (!values.against) throw new Error('--against must be the folder of another checkout, which was built');
const commands = ['--version', '--help', '--wrong', 'keys list --wrong'];
// It needs an organization, and its database is that of both checkouts.
if (process.env.DATABASE_URL) commands.push('organizations list --json');

const folder = mkdtempSync(join(tmpdir(), 'lanyard-bench-'));
const meter = join(folder, 'meter.cjs');
writeFileSync(
  meter,
  `process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    require('node:fs').writeSync(3, String((user + system) / 1e6));
  });`,
);

function cpuSeconds(checkout, command) {
  const args = ['--require', meter, join(checkout, 'dist/src/main.js'), ...command.split(' ')];
  const { output } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  return Number(output[3]);
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

try {
  for (const command of commands) {
    const runs = Array.from({ length: Number(values.rounds) + 1 }, () =>
      [process.cwd(), values.against].map((checkout) => cpuSeconds(checkout, command)),
    ).slice(1);
    const [here, there] = [0, 1].map((n) => median(runs.map((run) => run[n])));
    const ratio = median(runs.map(([a, b]) => a / b));
    console.log(`${command}: ${here.toFixed(2)} s, there ${there.toFixed(2)} s, ratio ${ratio.toFixed(2)}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
