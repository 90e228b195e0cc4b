import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { query, type TestDatabase } from '../../src/testing/test-database';
import { createDatabase } from '../support/database';
import { install, type Installation, Operator } from '../support/operator';

describe('operator backup', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-backup-'));
  const file = join(folder, 'lanyard.backup');
  let installation: Installation;
  let target: TestDatabase;

  beforeAll(async () => {
    installation = await install();
    await installation.server.tenant();
    await query(
      installation.database.url,
      `create table own_notes as select generate_series(1, 3) as n;
      insert into organizations (name) select '\\.' || chr(10) || '\\.' || chr(10) || chr(9) from generate_series(1, 2)`,
    );
    const { backedUp, bytes } = await installation.operator.json<{ backedUp: object; bytes: number }>(['backup', file]);
    expect(backedUp).toMatchObject({ organizations: 3, api_keys: 1, own_notes: 3, changes_key: 1 });
    expect(bytes).toBe(statSync(file).size);
  });
  beforeEach(async () => void (target = await createDatabase()));
  afterAll(() => rmSync(folder, { recursive: true }));

  const restore = (path: string, ...options: string[]) =>
    new Operator({ DATABASE_URL: target.url }).run(['restore', path, ...options]);
  const relations = () => query(target.url, 'select from pg_class where relnamespace = current_schema()::regnamespace');
  const written = (name: string, content: string | Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const text = () => gunzipSync(readFileSync(file)).toString();
  /** The backup as it was written before there were checksums. */
  const withoutChecksum = () => text().replace(/,"sha256":"[0-9a-f]{64}"\}\n$/, '}\n');
  const expectRejected = async (path: string, reason: string) => {
    expect(await restore(path)).toEqual({ status: 1, stdout: '', stderr: `${path} ${reason}\n` });
    expect(await relations()).toEqual([]);
  };

  it('writes a file that only its owner can read, and leaves no other file', () => {
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    expect(readdirSync(folder)).toEqual(['lanyard.backup']);
  });

  it('neither overwrites a file nor follows a link', async () => {
    const link = join(folder, 'link');
    symlinkSync(join(folder, 'nowhere'), link);
    for (const path of [file, link]) {
      const stderr = `${path} already exists. Choose another file name.\n`;
      expect(await installation.operator.run(['backup', path])).toEqual({ status: 1, stdout: '', stderr });
    }
    const elsewhere = join(folder, 'lacking', 'file');
    const stderr = `Cannot write ${elsewhere}: no such file or directory\n`;
    expect(await installation.operator.run(['backup', elsewhere])).toEqual({ status: 1, stdout: '', stderr });
    rmSync(link);
  });

  it('fails if the database is empty or does not exist', async () => {
    const stderr = 'There is nothing to back up: the database has no tables of Lanyard. Is DATABASE_URL right?\n';
    const path = join(folder, 'empty');
    expect(await new Operator({ DATABASE_URL: target.url }).run(['backup', path])).toEqual({
      status: 1,
      stdout: '',
      stderr,
    });
    const nowhere = new Operator({ LANYARD_DATA_DIR: join(folder, 'nowhere') });
    expect(await nowhere.run(['backup', path])).toMatchObject({ status: 1, stdout: '' });
    expect(readdirSync(folder)).toEqual(['lanyard.backup']);
  });

  it('is restored completely, except for tables that no migration creates', async () => {
    const { status, stdout, stderr } = await restore(file, '--json');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ restored: { organizations: 3 }, skipped: ['own_notes'], applied: [] });
    const rows = 'select to_jsonb(r) from (table organizations union all table organizations) r order by 1';
    expect(await query(target.url, rows)).toEqual(await query(installation.database.url, rows));
    // The restored database takes over the log under an identity and a generation of its own.
    const key = 'select secret from changes_key';
    expect(await query(target.url, key)).toEqual(await query(installation.database.url, key));
    const identity = 'select database_identity, generation from changes_key';
    const [[restored], [original]] = [
      await query(target.url, identity),
      await query(installation.database.url, identity),
    ];
    expect(restored?.database_identity).not.toBe(original?.database_identity);
    expect(restored?.generation).toBe(Number(original?.generation) + 1);
    expect((await new Operator({ DATABASE_URL: target.url }).run(['check'])).status).toBe(0);
  });

  it('is restored only into an empty database', async () => {
    await query(target.url, 'create table mine (n integer)');
    const stderr = expect.stringMatching(
      /^The database is not empty: it contains mine\. Set DATABASE_URL to .*\n$/,
    ) as string;
    expect(await restore(file)).toEqual({ status: 1, stdout: '', stderr });
    expect(await relations()).toHaveLength(1);
  });

  it('from an older release gets the newer migrations', async () => {
    const older = withoutChecksum()
      .replace(/,"SchemaReleases\d+"/, '')
      .replace(/\{"name":"schema_releases",[^}]*\},?/, '')
      .replace(/\{"table":\{"name":"schema_releases".*\n(.*\n)*?\\\.\n/, '')
      .replace(/,"schema_releases":\d+/, '');
    const { status, stdout } = await restore(written('older', gzipSync(older)), '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ applied: [expect.stringMatching(/^SchemaReleases/)] });
    expect(await query(target.url, 'select release from schema_releases')).toHaveLength(1);
  });

  it('from a newer release is rejected', async () => {
    const newer = withoutChecksum()
      .replace(/"release":"[^"]*"/, '"release":"0.9.0"')
      .replace('"migrations":[', '"migrations":["Later1895564800000",');
    const reason = expect.stringContaining(
      'was written by Lanyard 0.9.0 and has migrations that this release does not know (Later',
    );
    expect(await restore(written('newer', gzipSync(newer)))).toEqual({ status: 1, stdout: '', stderr: reason });
    expect(await relations()).toEqual([]);
    const format = newer.replace('"version":1', '"version":2');
    const path = written('format', gzipSync(format));
    await expectRejected(
      path,
      'was written by Lanyard 0.9.0 in a format that this release cannot read. Restore it with that release.',
    );
  });

  it('is rejected if its end is missing, and nothing is restored', async () => {
    const whole = readFileSync(file);
    for (const length of [0, 9, whole.length >> 1, whole.length - 9, whole.length - 1]) {
      await expectRejected(written(`cut-${length}`, whole.subarray(0, length)), 'is incomplete: its end is missing.');
    }
    const lines = text().slice(0, text().lastIndexOf('{"rows":'));
    await expectRejected(written('without-end', gzipSync(lines)), 'is incomplete: its end is missing.');
  });

  it('is rejected if a row is missing or the file is not a backup', async () => {
    const lost = withoutChecksum().replace(/(\{"table":\{"name":"organizations".*\n).*\n/, '$1');
    await expectRejected(
      written('lost', gzipSync(lost)),
      'is damaged: it does not contain the 3 rows of organizations that it should.',
    );
    await expectRejected(written('text', 'no backup at all'), 'is not a backup of Lanyard.');
    await expectRejected(written('other', gzipSync('{"leads":[]}\n')), 'is not a backup of Lanyard.');
    const changed = Buffer.from(readFileSync(file));
    changed.writeUInt8(changed.readUInt8(changed.length - 8) ^ 1, changed.length - 8);
    await expectRejected(written('changed', changed), 'is damaged.');
    const missing = join(folder, 'missing');
    const stderr = `Cannot read ${missing}: no such file or directory\n`;
    expect(await restore(missing)).toEqual({ status: 1, stdout: '', stderr });
  });

  it('ends with the SHA-256 of everything before its last line', () => {
    const start = text().lastIndexOf('{"rows":');
    const { sha256 } = JSON.parse(text().slice(start)) as { sha256: string };
    expect(sha256).toBe(createHash('sha256').update(text().slice(0, start)).digest('hex'));
  });

  it('without a checksum, as earlier ones, is restored', async () => {
    expect(await restore(written('earlier', gzipSync(withoutChecksum())))).toMatchObject({ status: 0 });
  });

  it.each([
    ['lacks a table in its body and its end', (old: string) => without(old, 'api_keys')],
    ['lacks a table in its body', (old: string) => old.replace(bodyOf('api_keys'), '')],
    ['has a table twice', (old: string) => old.replace(bodyOf('api_keys'), (body) => body + body)],
    ['has a table that its head does not name', (old: string) => old.replace(inHead('api_keys'), '')],
    ['counts no rows of a table', (old: string) => old.replace(/,"leads":\d+/, '')],
    ['ends without its counts', (old: string) => old.replace(/\{"rows":.*/, '{}')],
    ['names no migrations', (old: string) => old.replace('"migrations"', '"migration"')],
    ['has a table without columns', (old: string) => old.replace('"columns"', '"column"')],
    ['has an unreadable table', (old: string) => old.replace('{"table"', '{table')],
    ['names no version', (old: string) => old.replace('"version":1', '"version":"one"')],
  ])('is damaged if it %s', async (_, change) => {
    const old = withoutChecksum();
    expect(change(old)).not.toBe(old);
    await expectRejected(written('damaged', gzipSync(change(old))), 'is damaged.');
  });

  it('is damaged if a value differs, though it was compressed again', async () => {
    const changed = text().replace(/"createdAt":"2/, '"createdAt":"1');
    await expectRejected(written('damaged', gzipSync(changed)), 'is damaged.');
  });

  it('is rejected in one sentence, whichever bit of it is flipped', async () => {
    const whole = readFileSync(file);
    for (let at = 10; at < whole.length; at += whole.length >> 4) {
      const flipped = Buffer.from(whole);
      flipped.writeUInt8(flipped.readUInt8(at) ^ 4, at);
      const path = written('flipped', flipped);
      const { status, stderr } = await restore(path);
      expect({ status, stderr: stderr.replace(path, 'FILE') }).toEqual({
        status: 1,
        stderr: expect.stringMatching(
          /^FILE is (damaged.*|incomplete: its end is missing|not a backup of Lanyard)\.\n$/,
        ),
      });
      expect(await relations()).toEqual([]);
    }
  }, 60_000);

  it('creates no database for a damaged backup', async () => {
    const dataDir = join(folder, 'data');
    const path = written('damaged', gzipSync(text().replace('"migrations"', '"migration"')));
    const { status } = await new Operator({ LANYARD_DATA_DIR: dataDir }).run(['restore', path]);
    expect(status).toBe(1);
    expect(existsSync(dataDir)).toBe(false);
  });
});

const bodyOf = (table: string): RegExp => new RegExp(`\\{"table":\\{"name":"${table}".*\\n(.*\\n)*?\\\\\\.\\n`);
const inHead = (table: string): RegExp => new RegExp(`\\{"name":"${table}",[^}]*\\},?`);
const without = (backup: string, table: string): string =>
  backup.replace(bodyOf(table), '').replace(new RegExp(`"${table}":\\d+,?(?=.*\\n$)`), '');
