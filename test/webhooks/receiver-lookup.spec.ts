import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import dns from 'node:dns';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  isAllowedAddress,
  namesToResolve,
  ReceiverLookup,
  type ReceiverLookupOptions,
} from '../../src/feed/webhooks/receiver-lookup';
import { DnsServer } from '../support/servers/dns-server';

const folder = mkdtempSync(join(tmpdir(), 'lanyard-lookup-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

describe('the lookup of receivers', () => {
  let server: DnsServer;
  beforeAll(async () => {
    server = await new DnsServer().listen();
    server.hangs = (name) => name.includes('hang');
    server.addresses
      .set('crm.example.com', '93.184.215.14')
      .set('crm.default.svc.cluster.local', '10.1.2.3')
      .set('metadata.example.com', '169.254.169.254');
  });
  beforeEach(() => server.queries.splice(0));

  const lookupOf = (options: Partial<ReceiverLookupOptions> = {}): ReceiverLookup =>
    new ReceiverLookup({
      allowPrivate: true,
      servers: [server.address],
      hostsFile: file('hosts', '# own names\n10.0.0.7\tbooth booth.internal # the booth\nfe80::1%lo0 booth\n'),
      resolvConf: file('resolv.conf', 'search default.svc.cluster.local svc.cluster.local\noptions ndots:5 edns0\n'),
      ...options,
    });
  const resolve = async (host: string, options?: Partial<ReceiverLookupOptions>): Promise<string[]> =>
    (await lookupOf(options).resolve(host)).map(({ address }) => address);

  it('asks DNS', async () => {
    expect(await resolve('crm.example.com.')).toEqual(['93.184.215.14']);
    expect(await resolve('crm.example.com')).toEqual(['93.184.215.14']);
  });

  it('knows localhost and the names of the hosts file without asking DNS', async () => {
    expect(await resolve('localhost')).toEqual(['127.0.0.1', '::1']);
    expect(await resolve('Booth.Internal')).toEqual(['10.0.0.7']);
    expect(await resolve('booth')).toEqual(['10.0.0.7']);
    expect(server.queries).toEqual([]);
  });

  it('finds a short name of a cluster by its search domains', async () => {
    expect(await resolve('crm')).toEqual(['10.1.2.3']);
  });

  it('fails for a name that does not exist', async () => {
    await expect(resolve('nobody.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('ends when DNS servers do not respond, and holds none of the threads that files and the driver use', async () => {
    const blocking = jest.spyOn(dns, 'lookup');
    const lookup = lookupOf();
    const hanging = Promise.allSettled(Array.from({ length: 20 }, (_, n) => lookup.resolve(`hang${n}.example.com.`)));
    let isOver = false;
    void hanging.then(() => (isOver = true));
    while (server.queries.length < 20) await readFile(__filename);
    expect(await lookup.resolve('crm.example.com.')).toHaveLength(1);
    expect(isOver).toBe(false);
    const errors = (await hanging).map((result) => (result.status === 'rejected' ? (result.reason as unknown) : null));
    expect(errors).toEqual(Array.from({ length: 20 }, () => expect.objectContaining({ code: 'ETIMEOUT' }) as object));
    expect(blocking).not.toHaveBeenCalled();
    blocking.mockRestore();
  });

  it('connects to no metadata service, whatever its name is', async () => {
    await expect(resolve('metadata.example.com.')).rejects.toMatchObject({ code: 'address not allowed' });
  });

  it('connects to no private address when they are forbidden', async () => {
    for (const host of ['localhost', 'booth', 'crm']) {
      await expect(resolve(host, { allowPrivate: false })).rejects.toMatchObject({ code: 'address not allowed' });
    }
    expect(await resolve('crm.example.com.', { allowPrivate: false })).toEqual(['93.184.215.14']);
  });

  it.each([
    ['http://2852039166/', false],
    ['http://0xA9FEA9FE/', false],
    ['http://0251.0376.0251.0376/', false],
    ['http://169.254.43518/', false],
    ['http://[::ffff:169.254.169.254]/', false],
    ['http://[::169.254.169.254]/', false],
    ['http://[64:ff9b::a9fe:a9fe]/', false],
    ['http://[2002:a9fe:a9fe::1]/', false],
    ['http://[fe80::1]/', false],
    ['http://[::]/', false],
    ['http://0/', false],
    ['http://[ff02::1]/', false],
    ['http://224.0.0.1/', false],
    ['http://255.255.255.255/', false],
    ['http://[fd00:ec2::254]/', false],
    ['http://[fd20:ce::254]/', false],
    ['http://100.100.100.200/', false],
    ['http://168.63.129.16/', false],
    ['http://192.0.0.192/', false],
    ['http://[64:ff9b:1::a9fe:a9fe]/', false],
    ['http://[64:ff9b::a00:1]/', true],
    ['http://[2001:0:5dff::1]/', false],
    ['http://[::ffff:0:a9fe:a9fe]/', false],
    ['http://198.51.100.1/', false],
    ['http://127.0.0.1/', true],
    ['http://[::ffff:10.0.0.1]/', true],
    ['http://93.184.215.14/', true],
    ['http://crm.example.com/', true],
  ])('of a literal host: %s is allowed: %j', (url, isAllowed) => {
    expect(lookupOf().isAllowedHost(new URL(url).hostname)).toBe(isAllowed);
  });
});

describe('addresses of private networks', () => {
  it.each(['10.0.0.1', '127.0.0.1', '172.31.0.1', '192.168.1.1', '100.64.0.1', '::1', 'fd12::1', '::ffff:a00:1'])(
    'are allowed only where the operator allows them: %s',
    (address) => {
      expect(isAllowedAddress(address, true)).toBe(true);
      expect(isAllowedAddress(address, false)).toBe(false);
    },
  );

  it.each(['93.184.215.14', '172.32.0.1', '2606:2800:21f::1', '64:ff9b::5db8:d70e'])('do not include %s', (address) => {
    expect(isAllowedAddress(address, false)).toBe(true);
  });

  it.each([
    ['a translation prefix of a network of its own', '64:ff9b:1::a9fe:a9fe'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['6to4', '2002:a9fe:a9fe::1'],
    ['NAT64 of a private address', '64:ff9b::a00:1'],
    ['an address for documentation', '2001:db8::1'],
    ['a reserved address', '198.18.0.1'],
    ['a range that is not assigned', '4000::1'],
    ['an IPv4-compatible address', '::a9fe:a9fe'],
  ])('are not mistaken for public ones: %s', (_, address) => {
    expect(isAllowedAddress(address, false)).toBe(false);
  });
});

describe('search domains', () => {
  it.each([
    ['crm', 'search a.example b.example', ['crm.a.example', 'crm.b.example', 'crm']],
    ['crm.shop', 'search a.example', ['crm.shop', 'crm.shop.a.example']],
    ['crm.shop', 'options ndots:2\nsearch a.example. # ours', ['crm.shop.a.example', 'crm.shop']],
    ['crm', 'search a.example\ndomain b.example', ['crm.b.example', 'crm']],
    ['crm.', 'search a.example', ['crm']],
    ['crm', '', ['crm']],
  ])('of %j with %j: %j', (host, resolvConf, names) => {
    expect(namesToResolve(host, resolvConf)).toEqual(names);
  });
});
