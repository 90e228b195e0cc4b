import { readFile } from 'node:fs/promises';
import { promises as dns } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** An address as `net.connect` takes it from a lookup. */
export interface ReceiverAddress {
  address: string;
  family: 4 | 6;
}

export interface ReceiverLookupOptions {
  /** Whether receivers in private networks and on this machine are allowed. */
  allowPrivate: boolean;
  /** DNS servers as `address:port`. The default is the system's. */
  servers?: string[];
  /** Milliseconds that one lookup may take in all. */
  timeoutMs?: number;
  hostsFile?: string;
  resolvConf?: string;
}

/** Thrown when a host name has no address that may be connected to. Its `code` becomes the error of the delivery. */
export class AddressNotAllowed extends Error {
  readonly code = 'address not allowed';
}

const LOOKUP_TIMEOUT_MS = 5_000;
/** Milliseconds for the first answer of one DNS server. c-ares doubles it on every try. */
const QUERY_TIMEOUT_MS = 1_000;
const QUERY_TRIES = 2;
const HOSTS_FILE = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';
const RESOLV_CONF = '/etc/resolv.conf';

/** Errors after which the next name of the search list is tried. */
const NO_SUCH_NAME = ['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'EBADNAME'];

/** Names by which cloud machines ask for their own credentials. Their addresses are blocked, too. */
const METADATA_NAMES = /^(metadata|metadata\.google\.internal|metadata\.goog|instance-data(\.ec2\.internal)?)$/;

function blockList(...subnets: string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address, prefix] = subnet.split('/') as [string, string];
    list.addSubnet(address, Number(prefix), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** Unspecified, link-local, multicast, and reserved addresses, and those of metadata services elsewhere. */
const NEVER_ALLOWED = blockList(
  '0.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '100.100.100.200/32', // Alibaba Cloud
  '168.63.129.16/32', // Azure
  '192.0.0.192/32', // Oracle Cloud
  '::/128',
  'fe80::/10',
  'ff00::/8',
  'fd00:ec2::254/128', // AWS
  'fd20:ce::254/128', // Google Cloud
);

const PRIVATE = blockList(
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '::1/128',
  'fc00::/7',
  'fec0::/10',
);

/** The IPv4 address within an IPv6 address that is mapped (`::ffff:…`), compatible, of NAT64, or of 6to4. */
function embeddedIpv4(address: string): string | undefined {
  // The URL parser writes every spelling in one form, with hexadecimal groups only.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail = ''] = text.split('::') as [string, string?];
  const groupsOf = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [left, right] = [groupsOf(head), groupsOf(tail)];
  const groups = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  const startsWith = (...prefix: number[]): boolean => prefix.every((group, n) => groups[n] === group);
  const ipv4 = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');
  const isMapped = startsWith(0, 0, 0, 0, 0, 0xffff) || startsWith(0, 0, 0, 0, 0xffff, 0);
  const isCompatible = startsWith(0, 0, 0, 0, 0, 0) && groups[6] !== 0;
  const isNat64 = startsWith(0x64, 0xff9b, 0, 0, 0, 0);
  if (isMapped || isCompatible || isNat64) return ipv4(groups[6] as number, groups[7] as number);
  if (startsWith(0x2002)) return ipv4(groups[1] as number, groups[2] as number);
  return undefined;
}

/** Whether a receiver may have an address: cloud metadata, link-local and multicast never, private ones if allowed. */
export function isAllowedAddress(address: string, allowPrivate: boolean): boolean {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (NEVER_ALLOWED.check(address, family)) return false;
  if (!allowPrivate && PRIVATE.check(address, family)) return false;
  const embedded = family === 'ipv6' ? embeddedIpv4(address) : undefined;
  return embedded === undefined || isAllowedAddress(embedded, allowPrivate);
}

const withoutFinalDot = (host: string): string => host.toLowerCase().replace(/\.$/, '');

export const isMetadataName = (host: string): boolean => METADATA_NAMES.test(withoutFinalDot(host));

/** The addresses that a file in the format of /etc/hosts gives a name. */
export function hostsFileAddresses(text: string, host: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    // An address with a zone (fe80::1%lo0) is link-local, and so is never allowed.
    return isIP(address) && !address.includes('%') && names.includes(host) ? [address] : [];
  });
}

/** The names to ask DNS for, in order, by the `search`, `domain` and `ndots` of resolv.conf (see its manual page). */
export function namesToResolve(host: string, resolvConf: string): string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)];
  let domains: string[] = [];
  let ndots = 1;
  for (const line of resolvConf.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    // The last of these lines counts.
    if (keyword === 'search') domains = values;
    if (keyword === 'domain') domains = values.slice(0, 1);
    const option = keyword === 'options' ? values.find((value) => /^ndots:\d+$/.test(value)) : undefined;
    if (option) ndots = Number(option.slice('ndots:'.length));
  }
  const searched = domains.map((domain) => `${host}.${domain.replace(/^\.|\.$/g, '')}`);
  const dots = host.split('.').length - 1;
  return dots >= ndots ? [host, ...searched] : [...searched, host];
}

/**
 * Resolves the host names of receivers. `dns.lookup` would hold one of libuv's four threads for as long as a DNS server does
 * not respond, and the database driver needs them for its own host name. A resolver of c-ares holds none, but knows neither
 * /etc/hosts nor search domains, so both are read here.
 */
export class ReceiverLookup {
  constructor(private readonly options: ReceiverLookupOptions) {}

  /** For `http.request`: only addresses that were checked are connected to. It is not called for a literal address. */
  readonly lookup: LookupFunction = (host, { all }, callback) => {
    this.resolve(host).then(
      (addresses) => {
        if (all) callback(null, addresses);
        else callback(null, (addresses[0] as ReceiverAddress).address, addresses[0]?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };

  /** Whether the host of a URL may be connected to if it is a literal address. The names are checked when they are resolved. */
  isAllowedHost(hostname: string): boolean {
    const host = hostname.replace(/^\[|\]$/g, '');
    return isIP(host) === 0 ? !isMetadataName(host) : this.isAllowed(host);
  }

  /** @throws AddressNotAllowed, or the error of DNS */
  async resolve(host: string): Promise<ReceiverAddress[]> {
    const name = withoutFinalDot(host);
    const found = (await this.localAddresses(name)) ?? (await this.resolveByDns(host));
    const allowed = found.filter((address) => this.isAllowed(address));
    if (allowed.length === 0) throw new AddressNotAllowed();
    return allowed.map((address) => ({ address, family: isIP(address) === 6 ? 6 : 4 }));
  }

  private isAllowed(address: string): boolean {
    return isAllowedAddress(address, this.options.allowPrivate);
  }

  private async localAddresses(name: string): Promise<string[] | undefined> {
    const addresses = hostsFileAddresses(await readText(this.options.hostsFile ?? HOSTS_FILE), name);
    if (addresses.length > 0) return addresses;
    return /^(.+\.)?localhost$/.test(name) ? ['127.0.0.1', '::1'] : undefined;
  }

  private async resolveByDns(host: string): Promise<string[]> {
    const names = namesToResolve(host, await readText(this.options.resolvConf ?? RESOLV_CONF));
    // A resolver for each lookup: its timeout cancels no other one, and it reads the system's servers anew.
    const resolver = new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
    if (this.options.servers) resolver.setServers(this.options.servers);
    const timer = setTimeout(() => resolver.cancel(), this.options.timeoutMs ?? LOOKUP_TIMEOUT_MS);
    try {
      return await firstAddresses(resolver, names);
    } finally {
      clearTimeout(timer);
    }
  }
}

async function firstAddresses(resolver: dns.Resolver, names: string[]): Promise<string[]> {
  let notFound: unknown;
  for (const name of names) {
    if (isMetadataName(name)) throw new AddressNotAllowed();
    const results = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    if (addresses.length > 0) return addresses;
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    const failure = errors.find((error) => !NO_SUCH_NAME.includes((error as NodeJS.ErrnoException).code ?? ''));
    if (failure) throw failure as Error;
    notFound ??= errors[0];
  }
  throw notFound as Error;
}

/** A system without the file has nothing to say in it. */
const readText = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');
