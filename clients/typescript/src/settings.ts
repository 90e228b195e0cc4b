import { LanyardError } from './lanyard-error';

const EXAMPLE = 'https://lanyard.example.com/api/v0';

/** Of keys: nothing else can stand in a header, or is in a key of Lanyard. */
const VISIBLE_ASCII = /^[!-~]+$/;

const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

const refusal = (message: string): LanyardError => new LanyardError(message, { attempts: 0 });

/** @throws LanyardError that says what an address of the API is */
export function checkedBaseUrl(given: string): string {
  const baseUrl = String(given).trim();
  const mustBe = (what: string) => refusal(`The baseUrl must ${what}, as in ${EXAMPLE}`);
  if (!/^https?:\/\//i.test(baseUrl) || !URL.canParse(baseUrl))
    throw mustBe('begin with http:// or https:// and a host');
  const { username, password, pathname, search, hash } = new URL(baseUrl);
  if (username || password) throw mustBe('have no user and no password');
  if (search || hash || !/\/api\/v0\/*$/.test(pathname)) throw mustBe('end with /api/v0');
  return baseUrl;
}

/** @throws LanyardError that does not quote the key */
export function checkedKey(given: string): string {
  const key = String(given ?? '').trim();
  if (key === '') throw refusal('A Lanyard client needs a key: the operator of the server issues one');
  if (VISIBLE_ASCII.test(key)) return key;
  throw refusal(
    'The key cannot be sent in a header: it has other characters than lan_ and letters and digits of ASCII',
  );
}

/** @throws LanyardError */
export function checkedIdempotencyKey(key: string, dryRun = false): string {
  if (dryRun) throw refusal('A dry run takes no idempotencyKey: nothing is stored that could be repeated');
  if (VISIBLE_ASCII.test(key) && key.length <= MAX_IDEMPOTENCY_KEY_LENGTH) return key;
  throw refusal('The idempotencyKey must be 1 to 255 visible characters of ASCII, such as a UUID');
}
