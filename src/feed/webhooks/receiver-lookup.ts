import { readFile } from 'node:fs/promises';
import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface ReceiverLookupOptions {
  /** Whether receivers in private networks and on this machine are allowed. */
  allowPrivate: boolean;
  /** Whether receivers anywhere else are allowed. They are by default. */
  allowPublic?: boolean;
  /** DNS servers as `address:port`. The default is the system's. */
  servers?: string[];
  hostsFile?: string;
  resolvConf?: string;
}

/** Thrown when a host name has no address that may be connected to. Its `code` becomes the error of the delivery. */
export class AddressNotAllowed extends Error {
  readonly code = 'address not allowed';
}

/** The milliseconds for the first answer of a DNS server, which c-ares doubles for the second try. */
const DNS_LIMITS = { timeout: 1_000, tries: 2 };
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

/** Whether a receiver may have an address: public and private ones if allowed, and all others never. */
export function isAllowedAddress(text: string, allowPrivate: boolean, allowPublic = true): boolean {
  const address = withoutTranslation(text);
  if (METADATA_ADDRESSES.includes(address.toString())) return false;
  const range = address.range();
  if (PRIVATE_RANGES.includes(range)) return allowPrivate;
  return allowPublic && range === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_IPV6));
}

/** The address that is connected to: the IPv4 address within an IPv6 address that is mapped (`::ffff:…`) or of NAT64. */
function withoutTranslation(text: string): ipaddr.IPv4 | ipaddr.IPv6 {
  const address = ipaddr.process(text);
  const isNat64 = address.kind() === 'ipv6' && address.match(NAT64);
  return isNat64 ? ipaddr.fromByteArray(address.toByteArray().slice(-4)) : address;
}

/** The words of each line of a system's file, without comments. */
const wordsOfLines = (text: string): string[][] =>
  text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  );

/** The names to ask DNS for, in order, by the `search` and `ndots` of resolv.conf (see its manual page). */
export function namesToResolve(host: string, resolvConf: string): string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)];
  const lines = wordsOfLines(resolvConf);
  // The last line counts; `domain` is the old name of a search list.
  const [, ...domains] = lines.findLast(([keyword = '']) => ['search', 'domain'].includes(keyword)) ?? [];
  const ndots = lines.flat().findLast((word) => word.startsWith('ndots:')) ?? 'ndots:1';
  const searched = domains.map((domain) => `${host}.${domain.replace(/\.$/, '')}`);
  const dots = host.split('.').length - 1;
  return dots >= Number(ndots.slice('ndots:'.length)) ? [host, ...searched] : [...searched, host];
}

/**
 * Resolves the host names of receivers. `dns.lookup` would hold one of libuv's four threads for as long as a DNS server does
 * not respond, and the database driver needs them for its own host name. A resolver of c-ares holds none, but knows neither
 * /etc/hosts nor search domains, so both are read here.
 */
export class ReceiverLookup {
  constructor(private readonly options: ReceiverLookupOptions) {}

  /** For `http.request`: only addresses that were checked are connected to. It is not called for a literal address. */
  readonly lookup: LookupFunction = (host, _, callback) => {
    this.resolve(host).then(
      (addresses) => callback(null, addresses),
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };

  /** Whether the host of a URL may be connected to if it is a literal address. The names are checked when they are resolved. */
  isAllowedHost(hostname: string): boolean {
    const host = withoutBrackets(hostname);
    return isIP(host) === 0 || this.isAllowed(host);
  }

  /** Whether the host of a URL is, or resolves to, an address that may be connected to. */
  async allowsHost(hostname: string): Promise<boolean> {
    const host = withoutBrackets(hostname);
    if (isIP(host) !== 0) return this.isAllowed(host);
    return this.resolve(host).then(
      () => true,
      () => false,
    );
  }

  /** @throws AddressNotAllowed, or the error of DNS */
  async resolve(host: string): Promise<LookupAddress[]> {
    const name = host.toLowerCase().replace(/\.$/, '');
    const found = (await this.localAddresses(name)) ?? (await this.resolveByDns(host));
    const allowed = found.filter((address) => this.isAllowed(address));
    if (allowed.length === 0) throw new AddressNotAllowed();
    return allowed.map((address) => ({ address, family: isIP(address) }));
  }

  private isAllowed(address: string): boolean {
    return isAllowedAddress(address, this.options.allowPrivate, this.options.allowPublic);
  }

  private async localAddresses(name: string): Promise<string[] | undefined> {
    if (name === 'localhost') return ['127.0.0.1', '::1'];
    const lines = wordsOfLines(await readText(this.options.hostsFile ?? HOSTS_FILE));
    const found = lines.filter(([address = '', ...names]) => isIP(address) && names.includes(name));
    return found.length > 0 ? found.map(([address = '']) => address) : undefined;
  }

  /** The addresses of the first name of the search list that has any. */
  private async resolveByDns(host: string): Promise<string[]> {
    const names = namesToResolve(host, await readText(this.options.resolvConf ?? RESOLV_CONF));
    // A new resolver reads the system's servers anew.
    const resolver = new dns.Resolver(DNS_LIMITS);
    if (this.options.servers) resolver.setServers(this.options.servers);
    let notFound: unknown;
    for (const name of names) {
      const results = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      if (addresses.length > 0) return addresses;
      const errors = results.map((result) => (result as PromiseRejectedResult).reason as NodeJS.ErrnoException);
      const failure = errors.find(({ code = '' }) => !NO_SUCH_NAME.includes(code));
      if (failure) throw failure;
      notFound ??= errors[0];
    }
    throw notFound;
  }
}

const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

/** A system without the file has nothing to say in it. */
const readText = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');
