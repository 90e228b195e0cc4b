import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseFaults } from '../../src/http/simulate/faults';
import { createTestDatabase } from '../support/database';
import { startInProcess } from '../support/lanyard';
import { Operator } from '../support/operator';
import { describeUnless, missingProgramReason } from '../support/skipping';

const PAGE = readFileSync(join(__dirname, '../../docs/testing.md'), 'utf8');
const CHAPTER = PAGE.split('\n## Test a client\n')[1]?.split('\n## ')[0] ?? '';
const blocksOf = (language: string): string[] =>
  [...CHAPTER.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block);

describe('docs/testing.md', () => {
  it('names faults that there are', () => {
    const faults = [...CHAPTER.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell = '']) => {
      const [first = '', ...more] = [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
      return [first, ...more.map((status) => `status=${status}`)];
    });
    const given = faults.map((text) => text.replace('MS', '5').replace('BYTES', '5').replace('…', 'status=503'));
    expect(given.filter((text) => !parseFaults(text))).toEqual([]);
    expect(given.length).toBeGreaterThan(10);
  });

  const MISSING = missingProgramReason('bash', 'curl', 'grep');
  describeUnless(MISSING)(`its samples${MISSING}`, () => {
    it('run as they stand, one after the other', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'lanyard-testing-'));
      const sample = join(folder, 'sample.json');
      writeFileSync(sample, blocksOf('json')[0] ?? '');
      const database = await createTestDatabase();
      const operator = new Operator({ DATABASE_URL: database.url });
      const scripts = blocksOf('sh').join('\n').split('\n');
      const commands = scripts.filter((line) => line.startsWith('lanyard '));
      const outputs: string[] = [];
      for (const line of commands) {
        const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].slice(1).map(([, quoted, bare]) => quoted ?? bare ?? '');
        const args = words.map((word) => (word === 'sample.json' ? sample : word));
        const { status, stdout, stderr } = await operator.run(args);
        expect({ line, status, stderr: status === 0 ? '' : stderr }).toEqual({ line, status: 0, stderr: '' });
        outputs.push(stdout);
      }
      const LANYARD_KEY = /lan_\w+/.exec(outputs.join())?.[0];
      const lanyard = await startInProcess({ databaseUrl: database.url, simulate: 'on' });
      const env = { ...process.env, LANYARD_URL: lanyard.baseUrl, LANYARD_KEY };
      const script = scripts.filter((line) => line.startsWith('curl ')).join('\n');
      const { stdout } = await promisify(execFile)('bash', ['-c', script], { env });
      rmSync(folder, { recursive: true });
      const lines = stdout.split(/\r?\n/);
      expect(lines[0]).toBe('Lanyard-Fault: query emial');
      expect(lines).toContain('Preference-Applied: tx=rollback');
      expect(lines.at(-1)).toBe('{"status":200,"results":{}}{"status":503,"error":"Service Unavailable"}');
      const api = lanyard.client(LANYARD_KEY);
      for (const list of ['tagGroups', 'activations', 'leadActivityEvents']) {
        expect((await api.get(`/${list}`).expect(200)).body.results.total).toBeGreaterThan(0);
      }
      await api.get('/leads/7b7d9a70-5f0e-4c53-8a39-0c6f0b3d1a11').expect(200);
    });
  });
});
