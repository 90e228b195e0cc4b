import { readFile } from 'node:fs/promises';
import { promises as dns } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

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

/** Metadata services of clouds that are not in a range of their own: Alibaba Cloud, Azure, AWS and Google Cloud. */
const METADATA_ADDRESSES = ['100.100.100.200', '168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'];
const PRIVATE_RANGES = ['private', 'loopback', 'carrierGradeNat', 'uniqueLocal'];
/** All public IPv6 addresses are in this range, except those of NAT64. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** A network with DNS64 gives receivers that have only an IPv4 address an address with this prefix. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** Whether a receiver may have an address: public ones always, private ones if allowed, and all others never. */
export function isAllowedAddress(text: string, allowPrivate: boolean): boolean {
  const address = withoutTranslation(text);
  if (METADATA_ADDRESSES.includes(address.toString())) return false;
  const range = address.range();
  if (PRIVATE_RANGES.includes(range)) return allowPrivate;
  return range === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_IPV6));
}

/** The address that is connected to: the IPv4 address within an IPv6 address that is mapped (`::ffff:…`) or of NAT64. */
function withoutTranslation(text: string): ipaddr.IPv4 | ipaddr.IPv6 {
  const address = ipaddr.process(text);
  const isNat64 = address.kind() === 'ipv6' && address.match(NAT64);
  return isNat64 ? ipaddr.fromByteArray(address.toByteArray().slice(-4)) : address;
}

/** The addresses that a file in the format of /etc/hosts gives a name. */
export function hostsFileAddresses(text: string, host: string): string[] {
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    // An address with a zone (fe80::1%lo0) is link-local, and so is never allowed.
    return isIP(address) && !address.includes('%') && names.includes(host) ? [address] : [];
  });
}

/** The names to ask DNS for, in order, by the `search` and `ndots` of resolv.conf (see its manual page). */
export function namesToResolve(host: string, resolvConf: string): string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)];
  // The last line counts; `domain` is the old name of a search list.
  const [, search = ''] = [...resolvConf.matchAll(/^[ \t]*(?:search|domain)[ \t]+([^#;\n]*)/gm)].at(-1) ?? [];
  const [, ndots = '1'] = [...resolvConf.matchAll(/^[ \t]*options\b.*[ \t]ndots:(\d+)/gm)].at(-1) ?? [];
  const domains = search.split(/\s+/).filter(Boolean);
  const searched = domains.map((domain) => `${host}.${domain.replace(/^\.|\.$/g, '')}`);
  const dots = host.split('.').length - 1;
  return dots >= Number(ndots) ? [host, ...searched] : [...searched, host];
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
    return isIP(host) === 0 || this.isAllowed(host);
  }

  /** @throws AddressNotAllowed, or the error of DNS */
  async resolve(host: string): Promise<ReceiverAddress[]> {
    const name = host.toLowerCase().replace(/\.$/, '');
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
