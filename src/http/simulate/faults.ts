import { hash } from 'node:crypto';

/** What a request has to suffer. */
export interface Faults {
  /** The status of a response that replaces the handler's. */
  status?: number;
  /** Milliseconds before the response. */
  delay?: number;
  /** Whether the connection is cut before the handler runs, or after its commit. */
  drop?: 'before' | 'after';
  /** The number of bytes of the response body after which the connection is cut. */
  truncate?: number;
  /** The share of requests in a sequence that are affected, from 0 to 1. The default is 1. */
  rate?: number;
  /** The seed that selects the affected requests of a sequence. */
  seed?: number;
}

const STATUSES = [401, 403, 404, 408, 409, 410, 413, 429, 500, 502, 503, 504];
const MAX_DELAY_MS = 30_000;
const MAX_LENGTH = 255;

const integer = (text: string, max: number): number | undefined =>
  /^\d{1,10}$/.test(text) && Number(text) <= max ? Number(text) : undefined;

/** How the value of each fault is read; undefined when it cannot be. */
const PARSERS: { [Name in keyof Faults]-?: (text: string) => Faults[Name] } = {
  status: (text) => STATUSES.find((status) => String(status) === text),
  delay: (text) => integer(text, MAX_DELAY_MS),
  drop: (text) => (['before', 'after'] as const).find((when) => when === text),
  truncate: (text) => integer(text, 2 ** 31 - 1),
  rate: (text) => (/^(0(\.\d{1,9})?|1(\.0{1,9})?|\.\d{1,9})$/.test(text) ? Number(text) : undefined),
  seed: (text) => integer(text, 2 ** 31 - 1),
};

/** What may stand in `Lanyard-Simulate` and in a key's setting, in one line. */
export const FAULTS_SYNTAX =
  `a list of faults separated by ";": status=${STATUSES.join('|')}, delay=0…${MAX_DELAY_MS} (ms), drop=before|after or ` +
  'truncate=BYTES, and for only some requests also rate=0…1 and seed=N';

/** The faults of a text such as `rate=0.1; seed=7; status=503`; undefined when it is malformed, or has none. */
export function parseFaults(text: string): Faults | undefined {
  const entries = text.split(';').map((part) => {
    const [, name = '', value = ''] = /^\s*(\w+)=(\S+)\s*$/.exec(part) ?? [];
    return [name, Object.hasOwn(PARSERS, name) ? PARSERS[name as keyof Faults](value) : undefined] as const;
  });
  const faults = Object.fromEntries(entries);
  const { rate: _, seed: __, ...effects } = faults;
  const isMalformed = text.length > MAX_LENGTH || entries.some(([, value]) => value === undefined);
  const isRepeated = Object.keys(faults).length < entries.length;
  return isMalformed || isRepeated || Object.keys(effects).length === 0 ? undefined : faults;
}

/** Whether the faults hit the nth request of a sequence: always the same ones. */
export function isTriggered({ rate = 1, seed = 0 }: Faults, nth: number): boolean {
  const draw = hash('sha256', `${seed} ${nth}`, 'buffer').readUInt32BE();
  return draw / 2 ** 32 < rate;
}
