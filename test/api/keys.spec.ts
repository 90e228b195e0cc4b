import { crc32 } from 'node:zlib';
import { DataSource } from 'typeorm';
import { AccessService, PRUNE_USAGE } from '../../src/access/access.service';
import { ApiKeysService, IssuedKey, KeyExpiredOrRevoked } from '../../src/access/api-keys.service';
import { hashKey, hasKeyForm, generateKey, keyPrefix } from '../../src/access/key-format';
import { OrganizationsService } from '../../src/access/organizations.service';
import { Pruner } from '../../src/data/database/pruner';
import { createTestDatabase } from '../support/database';
import { operatorServices } from '../support/operator-services';

const SECRET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFG';
/** The CRC-32 of the secret in base62, worked out apart from the code under test. */
const SUM = '32L9Jw';
const KEY = `lan_${SECRET}${SUM}`;
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('the form of a key', () => {
  it('has the checksum of its secret', () => {
    const digits = [...SUM].map((digit) =>
      BigInt('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.indexOf(digit)),
    );
    expect(digits.reduce((sum, digit) => sum * 62n + digit, 0n)).toBe(BigInt(crc32(SECRET)));
    expect(hasKeyForm(KEY)).toBe(true);
  });

  it.each([
    ['', ''],
    ['without its prefix', KEY.slice(4)],
    ['with another prefix', KEY.replace('lan', 'lon')],
    ['with something before it', ` ${KEY}`],
    ['with something behind it', `${KEY}\n`],
    ['with another checksum', `${KEY.slice(0, -1)}0`],
    ['with the checksum of another secret', KEY.replace('0123', '0124')],
    ['too short', `lan_${SECRET.slice(1)}${SUM}`],
    ['with a character that base62 lacks', KEY.replace('abc', 'a-c')],
    ['with a checksum of such', `${KEY.slice(0, -1)}-`],
    ['twice', KEY + KEY],
  ])('is not that of a text %s', (_, text) => expect(hasKeyForm(text)).toBe(false));

  it('is that of new keys, of which no two are alike and all characters are used', () => {
    const keys = Array.from({ length: 200 }, generateKey);
    expect(keys.filter((key) => !/^lan_[0-9A-Za-z]{49}$/.test(key) || !hasKeyForm(key))).toEqual([]);
    expect(new Set(keys).size).toBe(200);
    const used = new Set(keys.flatMap((key) => [...key.slice(4)]));
    expect([...used].sort().join('')).toBe('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
    // 62^43 is larger than 2^256: the first character cannot be any, the others can
    expect(new Set(keys.map((key) => key[5])).size).toBeGreaterThan(30);
  });

  it('shows no more than ten characters, and stores a SHA-256', () => {
    expect(keyPrefix(KEY)).toBe('lan_012345');
    // printf lan_ | openssl dgst -sha256 -binary | base64
    expect(hashKey('lan_')).toBe('B53mdZ11OnfjUV/dI7Q2VNSLKoKs7f/ppqcvMPgjN50=');
  });
});

let db: DataSource;
let keys: ApiKeysService;
let organizations: OrganizationsService;
let organizationId: number;
beforeAll(async () => {
  const services = await operatorServices((await createTestDatabase()).url);
  db = services.get(DataSource);
  [keys, organizations] = [services.get(ApiKeysService), services.get(OrganizationsService)];
  await keys.issue((await organizations.create('Another')).id);
});
beforeEach(async () => void ({ id: organizationId } = await organizations.create('Cobalt Systems')));

describe('the keys of an organization', () => {
  it('that have ended are not rotated, and are revoked once', async () => {
    const { id } = await keys.issue(organizationId);
    const expired = await keys.issue(organizationId, { expiresAt: new Date(Date.now() - 1) });
    // Those of one millisecond are in no certain order.
    expect((await keys.list(organizationId)).map((key) => key.id).sort()).toEqual([id, expired.id].sort());
    const revoked = await keys.revoke(id);
    expect(revoked?.id).toBe(id);
    expect(await keys.revoke(id)).toEqual(revoked);
    expect(await keys.revoke(UNKNOWN)).toBeNull();
    for (const ended of [id, expired.id]) await expect(keys.rotate(ended, 60)).rejects.toThrow(KeyExpiredOrRevoked);
  });
});

/** How many requests came with which key, as processes write it down when they stop and once a minute. */
describe('the use of keys', () => {
  const use = async (process: AccessService, { key }: IssuedKey, times: number): Promise<void> => {
    for (let i = 0; i < times; i++) expect(await process.findCaller(key)).toBeDefined();
  };
  const counted = async ({ id }: IssuedKey): Promise<number> => {
    const [{ requests }] = await db.query<[{ requests: number }]>(
      'select coalesce(sum(requests), 0)::integer as requests from key_usage where api_key_id = $1',
      [id],
    );
    return requests;
  };

  it('adds up over keys and processes', async () => {
    const [one, other] = [await keys.issue(organizationId), await keys.issue(organizationId)];
    const processes = [new AccessService(db), new AccessService(db)] as const;
    await use(processes[0], one, 3);
    await use(processes[1], one, 4);
    await use(processes[1], other, 1);
    await Promise.all(processes.map((process) => process.onApplicationShutdown()));
    expect([await counted(one), await counted(other)]).toEqual([7, 1]);
    await use(processes[0], one, 2);
    await processes[0].onApplicationShutdown();
    expect(await counted(one)).toBe(9);
    const { lastUsedAt } = (await keys.list(organizationId)).find(({ id }) => id === one.id) ?? {};
    expect(Date.now() - Number(lastUsedAt)).toBeLessThan(60_000);
  });

  it('shows no later time than that of the last request, also when another process stores an earlier one', async () => {
    const one = await keys.issue(organizationId);
    const [first, second] = [new AccessService(db), new AccessService(db)];
    const lastUse = async () => (await keys.list(organizationId)).find(({ id }) => id === one.id)?.lastUsedAt;
    await use(first, one, 1);
    await use(second, one, 1);
    const end = Date.now();
    const revoked = await keys.revoke(one.id);
    await second.onApplicationShutdown();
    const shown = await lastUse();
    expect(Number(shown)).toBeLessThanOrEqual(end);
    expect(Number(shown)).toBeLessThanOrEqual(Number(revoked?.revokedAt));
    await first.onApplicationShutdown();
    expect(await lastUse()).toEqual(shown);
  });

  it('is forgotten after a day', async () => {
    const one = await keys.issue(organizationId);
    await db.query(
      `insert into key_usage select $1, now() - n * interval '1 hour', 1 from unnest('{1,25}'::integer[]) n`,
      [one.id],
    );
    await new Pruner(db, [{ noun: 'usage', text: PRUNE_USAGE, values: [] }]).prune();
    expect(await counted(one)).toBe(1);
  });
});
