import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { operatorProgram } from '../../src/operator/commands';
import type { TestDatabase } from '../../src/testing/test-database';
import { createTestDatabase } from '../support/database';
import { Operator } from '../support/operator';

const ROOT = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const inFolder = (folder: string): string[] =>
  readdirSync(join(ROOT, folder)).flatMap((name) => (name.endsWith('.md') ? [join(folder, name)] : []));
const CLIENTS = ['clients/examples', 'clients/postman', 'clients/typescript'].flatMap(inFolder);
const PAGES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...inFolder('docs'), ...CLIENTS];
const DECISIONS = inFolder('docs/decisions');
interface Manifest {
  version: string;
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
}
const { version, scripts, dependencies } = JSON.parse(read('package.json')) as Manifest;

/** The anchors of a page, as GitHub makes them of its headings. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('the documentation', () => {
  it.each([...PAGES, ...DECISIONS])('%s has no link that leads nowhere', (page) => {
    const prose = read(page).replaceAll(/^```[^]*?^```$/gm, '');
    const targets = [...prose.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)|(?:src|srcset)="([^":]+)"/g)];
    const broken = targets
      .map(([, link, image]) => link ?? image ?? '')
      .filter((target) => {
        const [path = '', anchor] = target.split('#');
        const file = path === '' ? page : join(dirname(page), path);
        if (!existsSync(join(ROOT, file))) return true;
        return anchor !== undefined && file.endsWith('.md') && !anchorsOf(read(file)).includes(anchor);
      });
    expect(broken).toEqual([]);
  });

  it.each(PAGES)('%s names npm scripts, programs and commands that exist', async (page) => {
    const text = read(page);
    const npm = [...text.matchAll(/\bnpm run (?:--silent )?([\w:]+)/g)].map(([, name = '']) => name);
    expect(npm.filter((name) => !(name in scripts))).toEqual([]);
    const programs = [...text.matchAll(/\bnpm run (bench|prove) ([a-z\d-]+)/g)].map(([, folder = '', name = '']) =>
      join('test', folder, name),
    );
    expect(programs.filter((file) => !['.ts', '.mjs'].some((end) => existsSync(join(ROOT, file + end))))).toEqual([]);
    const files = [...text.matchAll(/\bnode ((?:scripts|clients)\/\S+\.mjs)/g)].map(([, file = '']) => file);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    const commands = (await operatorProgram()).commands.map((command) => command.name());
    const called = [...text.matchAll(/(?:^|`)(?:lanyard|npm run --silent operator --) ([a-z][a-z-]*)/gm)];
    expect(called.map(([, name = '']) => name).filter((name) => !commands.includes(name))).toEqual([]);
  });

  it('has the version of package.json where another file must name it', () => {
    const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version: string }> };
    const { info } = JSON.parse(read('openapi.json')) as { info: { version: string } };
    const [, released] = /^## (\S+)/m.exec(read('CHANGELOG.md')) ?? [];
    expect([lock.packages['']?.version, info.version, released]).toEqual([version, version, version]);
  });

  it('names every production dependency, and no other', () => {
    const table = read('docs/dependencies.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect(table.sort()).toEqual(Object.keys(dependencies).sort());
  });

  describe('docs/operations.md', () => {
    const here = process.cwd();
    const folder = mkdtempSync(join(tmpdir(), 'lanyard-docs-'));
    let database: TestDatabase;
    beforeAll(async () => {
      database = await createTestDatabase();
      process.chdir(folder);
    });
    afterAll(() => {
      process.chdir(here);
      rmSync(folder, { recursive: true });
    });

    it('has commands that work, one after the other', async () => {
      const operator = new Operator({ DATABASE_URL: database.url });
      writeFileSync(
        join(folder, 'contacts.csv'),
        'Contact ID;Firm;Mobile;E-mail;Notes\nc-1;Cobalt;+44 20 7946 0123;ada@example.com;met\n',
      );
      const fields = {
        'Contact ID': 'ref',
        Firm: 'company.name',
        Mobile: 'phone',
        'E-mail': 'email',
        Notes: 'description',
      };
      const columns = Object.entries(fields).map(([column, field]) => ({ column, field }));
      const mapping = { section: 'leads', delimiter: ';', columns };
      writeFileSync(join(folder, 'contacts.csv.mapping.json'), JSON.stringify(mapping));
      const blocks = [...read('docs/operations.md').matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);
      const lines = blocks
        .join('')
        .replaceAll(' \\\n', ' ')
        .split('\n')
        .flatMap((line) => (line.startsWith('lanyard ') ? [line.replace(/ +#.*/, '')] : []));
      expect(lines.length).toBeGreaterThan(10);
      for (const line of lines) {
        const args = [...line.matchAll(/"([^"]*)"|(\S+)/g)].slice(1).map(([, quoted, bare]) => quoted ?? bare ?? '');
        const { status, stderr } = await operator.run(args);
        expect({ line, status, stderr: status === 0 ? '' : stderr }).toEqual({ line, status: 0, stderr: '' });
      }
    }, 120_000);
  });
});
