import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { readOptions, refuse, run } from '../../scripts/services.mjs';
import { SYSTEM_DIR } from '../../src/data/embedded-postgres/reach';
import { freePort } from '../support/servers/free-port';
import { send, until } from './support/daemon';
import { seconds } from './support/figures';

/**
 * Does what README.md says, in fresh clones of what is committed: as root and as another user, in places where a first start,
 * a command or a test has failed, on each Node.js that it is given.
 */

const ROOT = join(__dirname, '../..');
/** Stands for the suites: like each of them, it starts a server on an embedded PostgreSQL. */
const SUITE = 'test/api/envelope';
const STEP_TIMEOUT_MS = 600_000;
/** Characters of a failed checkout's log that are printed. */
const LOG_TAIL = 4000;

interface Place {
  name: string;
  /** the directory around the checkout, and its mode */
  folder: string;
  mode: number;
  hasHome: boolean;
}

const PLACES: Place[] = [
  { name: 'an ordinary directory', folder: 'ordinary', mode: 0o755, hasHome: true },
  { name: 'a path with a blank', folder: 'with blank', mode: 0o755, hasHome: true },
  { name: 'under a directory that others cannot enter', folder: 'closed', mode: 0o700, hasHome: true },
  { name: 'without HOME', folder: 'homeless', mode: 0o755, hasHome: false },
  // The shortest run: what works here works in each of them.
  { name: 'all of these at once', folder: 'all of these', mode: 0o700, hasHome: false },
];

interface User {
  name: string;
  uid: number;
  gid: number;
}

/** The ID of an account in the system's list of users. */
function idOf(name: string, kind: '-u' | '-g'): number {
  const { status, stdout } = spawnSync('id', [kind, name], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : refuse(`--user ${name}: there is no such account`);
}

/** The lines of a shell block of README.md that contains a text. */
function blockOf(page: string, text: string): string {
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  return blocks.find((block) => block.includes(text)) ?? refuse(`README.md has no block with ${text}`);
}

/** One checkout, and the programs that run in it as its user. */
class Checkout {
  private readonly children = new Set<ChildProcess>();
  private readonly logFile: string;
  private readonly env: NodeJS.ProcessEnv;
  readonly directory: string;

  constructor(
    private readonly base: string,
    node: string,
    private readonly user: User,
    place: Place,
    home: string,
    port: number,
  ) {
    const parent = join(base, place.folder);
    this.directory = join(parent, 'lanyard');
    this.logFile = join(base, 'log');
    fs.mkdirSync(parent);
    this.must('git', ['clone', '--quiet', ROOT, this.directory]);
    if (process.getuid?.() === 0) this.must('chown', ['-R', `${user.uid}:${user.gid}`, parent]);
    fs.chmodSync(parent, place.mode);
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(npm_|LANYARD_|PG)|^(DATABASE_URL|REDIS_URL|HOME|INIT_CWD|NODE_OPTIONS|XDG_.*)$/i.test(name),
    );
    this.env = {
      ...Object.fromEntries(inherited),
      ...(place.hasHome && { HOME: home }),
      // Without HOME, npm takes the home of the account, which some accounts do not have.
      npm_config_cache: join(home, '.npm'),
      PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
      PORT: String(port),
    };
  }

  private must(command: string, args: string[]): void {
    const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  }

  private spawn(script: string): ChildProcess {
    const { uid, gid } = this.user;
    const options = process.getuid?.() === uid ? {} : { uid, gid };
    // A group of its own, which gets the signals that a terminal would send.
    const child = spawn('sh', ['-c', script], { ...options, cwd: this.directory, env: this.env, detached: true });
    this.children.add(child);
    const log = fs.createWriteStream(this.logFile, { flags: 'a' });
    log.write(`$ ${script}\n`);
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.once('close', () => (this.children.delete(child), log.end()));
    return child;
  }

  /** Runs a script to its end. @returns what it printed */
  async run(script: string): Promise<string> {
    const child = this.spawn(script);
    let output = '';
    child.stdout?.on('data', (chunk) => (output += String(chunk)));
    const signal = AbortSignal.timeout(STEP_TIMEOUT_MS);
    const [status] = (await once(child, 'close', { signal })) as [number | null];
    if (status !== 0) throw new Error(`${script}: status ${status}`);
    return output;
  }

  /** Starts a server. @returns what it printed up to a line, and how to stop it as Ctrl-C does */
  async start(script: string, lastLine: RegExp): Promise<{ lines: string[]; stop: () => Promise<unknown> }> {
    const child = this.spawn(script);
    const closed = once(child, 'close');
    const lines: string[] = [];
    const tooLate = setTimeout(() => this.signal(child, 'SIGKILL'), STEP_TIMEOUT_MS);
    for await (const line of createInterface(child.stdout!)) {
      lines.push(line);
      if (lastLine.test(line)) break;
    }
    clearTimeout(tooLate);
    child.stdout?.resume();
    if (!lastLine.test(lines.at(-1) ?? '')) throw new Error(`${script} ended before it was ready`);
    return { lines, stop: () => (this.signal(child, 'SIGINT'), closed) };
  }

  private signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
    if (pid) send(-pid, name);
  }

  log(): string {
    return fs.readFileSync(this.logFile, 'utf8');
  }

  async remove(): Promise<void> {
    for (const child of this.children) this.signal(child, 'SIGTERM');
    await until('all programs have ended', () => this.children.size === 0).catch(() => {
      for (const child of this.children) this.signal(child, 'SIGKILL');
    });
    const data = join(this.directory, '.data');
    if (fs.existsSync(data)) fs.rmSync(fs.realpathSync(data), { recursive: true, force: true });
    fs.rmSync(this.base, { recursive: true, force: true });
  }
}

/** The README's first minutes. @throws Error that says what failed */
async function follow(checkout: Checkout): Promise<void> {
  const readme = fs.readFileSync(join(checkout.directory, 'README.md'), 'utf8');
  const first = await checkout.start(blockOf(readme, 'npm start').trim(), / curl /);
  const request = first.lines.slice(-3).join('\n');
  if (
    request
      .replace(/lan_\w+/, 'lan_…')
      .replace(/:\d+/, ':3000')
      .replace(/^ +/gm, '') !== blockOf(readme, 'curl').trim()
  )
    throw new Error(`README.md shows another request than the first start:\n${request}`);
  const fails = request.replace('curl ', 'curl --fail --silent --show-error ');
  const response = await checkout.run(fails);
  if (!response.includes('"total":12')) throw new Error(`The first response is ${response}`);
  await checkout.run(`curl --fail --silent --show-error --output /dev/null http://localhost:$PORT/docs`);
  const organizations = await checkout.run('npm run --silent operator -- organizations list');
  if (!organizations.includes('Demo')) throw new Error(`organizations list printed ${organizations}`);
  await first.stop();

  const second = await checkout.start('npm start', /^To issue an API key/);
  if ((await checkout.run(fails)) !== response) throw new Error('The second start has other data than the first.');
  await second.stop();
  await checkout.run('npm run --silent operator -- check');
  await checkout.run(`npm test -- ${SUITE}`);
}

const options = readOptions({
  node: { type: 'string', default: process.execPath },
  user: { type: 'string', default: 'nobody' },
  only: { type: 'string', default: '' },
}) as { node: string; user: string; only: string };

void run(async (defer: (undo: () => Promise<unknown>) => void) => {
  const isRoot = process.getuid?.() === 0;
  const self: User = {
    name: isRoot ? 'root' : 'this user',
    uid: process.getuid?.() ?? -1,
    gid: process.getgid?.() ?? -1,
  };
  const other = (): User => ({ name: options.user, uid: idOf(options.user, '-u'), gid: idOf(options.user, '-g') });
  const users = isRoot ? [self, other()] : [self];
  const hadSystemDir = fs.existsSync(SYSTEM_DIR);
  defer(async () => {
    if (!hadSystemDir) fs.rmSync(SYSTEM_DIR, { recursive: true, force: true });
  });
  let failures = 0;
  for (const node of options.node.split(',')) {
    const { stdout: version } = spawnSync(node, ['--version'], { encoding: 'utf8' });
    for (const user of users) {
      const home = fs.mkdtempSync(join(tmpdir(), 'lanyard-first-start-home-'));
      fs.chownSync(home, user.uid, user.gid);
      defer(async () => fs.rmSync(home, { recursive: true, force: true }));
      for (const place of PLACES.filter(({ folder }) => folder.includes(options.only))) {
        const base = fs.mkdtempSync(join(tmpdir(), 'lanyard-first-start-'));
        fs.chmodSync(base, 0o755); // for the other user, and for the one that runs root's PostgreSQL
        const checkout = new Checkout(base, node, user, place, home, await freePort());
        const remove = checkout.remove.bind(checkout);
        defer(remove);
        const begun = performance.now();
        const failure = await follow(checkout).then(() => undefined, String);
        const outcome = failure ? 'FAILED' : `works, ${seconds(performance.now() - begun)}`;
        process.stdout.write(`Node.js ${version.trim()}, as ${user.name}, ${place.name}: ${outcome}\n`);
        if (failure) {
          failures++;
          process.stdout.write(`${failure}\n${checkout.log().slice(-LOG_TAIL)}\n`);
        }
        await remove();
      }
    }
  }
  return failures === 0 ? 0 : 1;
});
