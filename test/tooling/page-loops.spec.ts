import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { ModuleKind, ScriptTarget, transpile } from 'typescript';
import { Lanyard as Client } from '../../clients/typescript/src';
import { Lanyard, startLanyard, Tenant } from '../support/lanyard';
import { Network } from '../support/servers/network';
import { missingProgramReason } from '../support/skipping';

const ROOT = join(__dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const filesIn = (folder: string, extension: string): string[] =>
  readdirSync(join(ROOT, folder)).flatMap((name) => (name.endsWith(extension) ? [join(folder, name)] : []));

const PAGES = [
  'README.md',
  ...filesIn('docs', '.md'),
  ...readdirSync(join(ROOT, 'clients')).map((client) => `clients/${client}/README.md`),
];
/** More than the feed's pages have if no limit is asked for. */
const LEADS = 130;
const MAX_LIMIT = 20;
const MISSING = missingProgramReason('bash', 'curl', 'jq');

/** Whether a program reads a list or the change feed page by page. */
const isPageLoop = (code: string): boolean =>
  /\b(while|for) |replicate\(/.test(code) && /limit=\d\d|limit: \d|\b(list|changePages|changes|replicate)\(/.test(code);

const LOOPS = PAGES.flatMap((page) =>
  [...read(page).matchAll(/^ *```(\w+)\n([^]*?)^ *```$/gm)].flatMap(([, language = '', code = '']) =>
    isPageLoop(code) ? [{ page, language, code }] : [],
  ),
);

it('finds the loops that read page by page', () => {
  expect(LOOPS.map(({ page, language }) => `${page} ${language}`)).toEqual([
    'docs/getting-started.md sh',
    'docs/getting-started.md sh',
    ...Array.from({ length: 5 }, () => 'clients/typescript/README.md ts'),
  ]);
  const programs = ['clients/examples', 'clients/typescript/examples'].flatMap((folder) => filesIn(folder, '.mjs'));
  // examples.slow-spec.ts and client-package.spec.ts run these against more records than a page has.
  expect(programs.filter((file) => isPageLoop(read(file)))).toEqual([
    'clients/examples/conferences.mjs',
    'clients/examples/crm-sync.mjs',
    'clients/typescript/examples/sqlite-replica.mjs',
  ]);
});

describe('a page loop of the documentation, if pages are shorter than it asks for,', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  let network: Network;
  let ids: string[];
  beforeAll(async () => {
    lanyard = await startLanyard();
    tenant = await lanyard.tenant();
    ids = Array.from({ length: LEADS }, () => randomUUID());
    await tenant.import({ leads: ids.map((id) => ({ id, firstName: 'Ada' })) });
  });
  beforeEach(async () => {
    network = await Network.to(lanyard.baseUrl);
    network.maxLimit = MAX_LIMIT;
  });
  afterEach(() => network.close());

  const environment = () => ({ LANYARD_URL: network.baseUrl, LANYARD_KEY: tenant.key });

  const runShell = async (code: string): Promise<void> => {
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', code], { env: { ...process.env, ...environment() } });
  };

  /** Runs a block until it ends or, as loops over changes never do, until it has read everything and waits for more. */
  async function runTypeScript(code: string): Promise<void> {
    const upToDate = new Error('up to date');
    const sleep = () => Promise.reject(upToDate);
    const options = { baseUrl: network.baseUrl, key: tenant.key, sleep };
    const ignore = (): Promise<void> => Promise.resolve();
    const transaction = (work: (tx: object) => Promise<void>) =>
      work({ remove: ignore, upsert: ignore, storeCursor: ignore });
    const module = transpile(code, { target: ScriptTarget.ES2022, module: ModuleKind.ESNext });
    const body = module.replace(/^import .*$|^export .*$/gm, '');
    const given = {
      Lanyard: Client,
      process: { env: environment() },
      console: { log: () => undefined },
      ...(!body.includes('lanyard =') && { lanyard: new Client(options) }),
      ...(!body.includes('copy =') && { copy: { cursor: ignore, transaction } }),
      ...(!body.includes('let cursor') && { cursor: undefined }),
      apply: ignore,
      store: ignore,
    };
    const running = runInNewContext(`(async () => {${body}})()`, given) as Promise<void>;
    await running.catch((error: unknown) => {
      if (error !== upToDate) throw error;
    });
  }

  for (const { page, language, code } of LOOPS) {
    const missing = language === 'sh' ? MISSING : '';
    (missing ? it.skip : it)(`reads everything: ${page}, ${code.split('\n')[0]}${missing}`, async () => {
      await (language === 'sh' ? runShell(code) : runTypeScript(code));
      expect(network.requests.filter((request) => request.startsWith('GET')).length).toBeGreaterThan(1);
      expect(ids.filter((id) => !network.responses.includes(id))).toEqual([]);
    });
  }
});
