import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Ask } from '../prove/support/ask';

/** Prepares what a flood needs, by requests of a key without limits. @returns what is asked each time */
type Prepare = (send: Send) => Promise<() => Ask>;
/** Sends a request of the flooding organization, and gives the `results` of its answer. */
export type Send = (asked: Ask) => Promise<Record<string, unknown>>;

/** The largest texts of a record, in characters and bytes. */
const PROSE = 65_535;
const longText = (unit: string): string => unit.repeat(Math.floor(PROSE / unit.length));
const EMOJI = longText('🙂').slice(0, 60_000);
const MARKS = `a${'\u0301\u0323'.repeat(32_500)}`;

const LEAD = { createdByEmail: 'ada@example.com', firstName: 'Ada', lastName: 'Rowe', companyName: 'Cobalt' };
const EVENT = {
  createdByEmail: 'ada@example.com',
  eventName: 'Expo',
  eventType: 'EVENT',
  startDate: '2030-01-01',
  endDate: '2030-01-02',
};

const post = (path: string, body: object): Ask => ({ method: 'POST', path: `/api/v0${path}`, body });
const put = (path: string, body: object): Ask => ({ ...post(path, body), method: 'PUT' });
const get = (path: string): Ask => ({ method: 'GET', path: `/api/v0${path}` });
const keyed = (asked: Ask): Ask => ({ ...asked, headers: { 'idempotency-key': randomUUID() } });
const packed = (asked: Ask): Ask => ({
  ...asked,
  headers: { 'content-encoding': 'gzip' },
  body: gzipSync(JSON.stringify(asked.body)),
});

const UNKNOWN = Object.fromEntries(Array.from({ length: 19_900 }, (_, n) => [`unknown${n}`, 1]));
const UNKNOWN_OBJECTS = { unknown: Array.from({ length: 9_900 }, () => ({ a: 1 })) };
const same =
  (asked: Ask): Prepare =>
  async () =>
  () =>
    asked;

const repeated = async (times: number, work: (n: number) => Promise<unknown>): Promise<void> => {
  for (let n = 0; n < times; n++) await work(n);
};

/** Leads with as much in them as a body may hold. @returns their e-mail addresses */
async function largeLeads(send: Send, count: number, text: string): Promise<string[]> {
  const emails = Array.from({ length: count }, (_, n) => `large${n}@example.com`);
  for (const email of emails) {
    const { id } = await send(post('/leads', { ...LEAD, email }));
    await send({ ...post(`/leads/${String(id)}`, { description: text, address: text }), method: 'PATCH' });
  }
  return emails;
}

/** 32 words, each 255 times: more places of a word PostgreSQL does not keep. */
const WORDS = Array.from({ length: 32 }, (_, n) => `word${String.fromCharCode(97 + n)}`.normalize());
const WORDY = Array.from({ length: 255 }, () => WORDS.join(' '))
  .join(' ')
  .slice(0, PROSE);

/** Requests that are valid, and made to cost the server as much as they can. */
export const FLOODS: Record<string, Prepare> = {
  'unknown fields of a lead': same(packed(post('/leads', { ...LEAD, ...UNKNOWN }))),
  'unknown objects of a lead': same(packed(post('/leads', { ...LEAD, ...UNKNOWN_OBJECTS }))),
  'unknown fields of an event': same(packed(post('/events', { ...EVENT, ...UNKNOWN }))),
  'unknown fields of a batch': same(
    packed(post('/leads/batch', { matchBy: 'none', leads: [{ ...LEAD, ...UNKNOWN }] })),
  ),
  'marks in a new record': same(post('/industryEvents', { name: 'Marks', description: MARKS })),
  'marks in a record that is replaced': async (send) => {
    const { industryEvent } = await send(post('/industryEvents', { name: 'Marks' }));
    const path = `/industryEvents/${(industryEvent as { id: string }).id}`;
    return () => put(path, { description: MARKS, venueFullAddress: MARKS, keywords: [MARKS.slice(0, 255)] });
  },
  'records of words that no other has': async () => {
    let word = 0;
    const description = (): string => Array.from({ length: 9_000 }, () => `w${(word++).toString(36)}`).join(' ');
    return () => post('/industryEvents', { name: 'Words', description: description() });
  },
  'records of one name': async (send) => {
    const record = { name: 'Twin', description: EMOJI, venueFullAddress: EMOJI };
    await repeated(20, () => send(post('/industryEvents', record)));
    return () => post('/industryEvents', { name: 'Twin' });
  },
  'records of one name, under an Idempotency-Key': async (send) => {
    await repeated(20, () => send(post('/industryEvents', { name: 'Kept twin', description: longText('x') })));
    return () => keyed(post('/industryEvents', { name: 'Kept twin' }));
  },
  'pages of large leads': async (send) => {
    await largeLeads(send, 20, EMOJI);
    return () => get('/leads?limit=50');
  },
  'bookmarks of large records': async (send) => {
    await repeated(30, async (n) => {
      const made = await send(
        post('/industryEvents', { name: `Large ${n}`, description: EMOJI, venueFullAddress: EMOJI }),
      );
      await send(post(`/industryEvents/${(made.industryEvent as { id: string }).id}/bookmark`, {}));
    });
    return () => get('/industryEvents/bookmarks');
  },
  'batches of large leads': async (send) => {
    const emails = await largeLeads(send, 30, longText('x'));
    let n = 0;
    return () =>
      post('/leads/batch', { matchBy: 'email', leads: emails.map((email) => ({ email, jobTitle: `Buyer ${n++}` })) });
  },
  'batches of large leads, under an Idempotency-Key': async (send) => {
    const emails = await largeLeads(send, 30, longText('y'));
    return () => keyed(post('/leads/batch', { matchBy: 'email', leads: emails.map((email) => ({ email })) }));
  },
  'searches for the words of wordy records': async (send) => {
    await repeated(15, (n) => send(post('/industryEvents', { name: `Wordy ${n}`, description: WORDY })));
    const q = encodeURIComponent(WORDS.join(' '));
    return () => get(`/industryEvents?limit=50&q=${q}`);
  },
  'searches for a phrase of wordy records': async (send) => {
    await repeated(15, (n) => send(post('/industryEvents', { name: `Wordy ${n}`, description: WORDY })));
    const q = encodeURIComponent(`"${WORDS.join(' ')}"`);
    return () => get(`/industryEvents?limit=50&q=${q}`);
  },
  'a thousand leads of an event, in another order each time': async (send) => {
    const ids: string[] = [];
    await repeated(5, async () => {
      const { leads } = await send(post('/leads/batch', { matchBy: 'none', leads: Array(200).fill(LEAD) }));
      ids.push(...(leads as { lead: { id: string } }[]).map(({ lead }) => lead.id));
    });
    const { id } = await send(post('/events', EVENT));
    let isCheckedIn = false;
    return () => {
      isCheckedIn = !isCheckedIn;
      const eventLeads = ids.map((leadId) => ({ leadId, checkedIn: isCheckedIn })).sort(() => Math.random() - 0.5);
      return put(`/events/${String(id)}/leads`, { eventLeads });
    };
  },
};

/** Floods that differ from another one in a header, a route or a sign: `.ci/run` runs them too, as every CI does. */
const VARIANTS = [
  'unknown objects of a lead',
  'unknown fields of an event',
  'records of one name, under an Idempotency-Key',
  'batches of large leads, under an Idempotency-Key',
  'searches for a phrase of wordy records',
];

export const FLOOD_NAMES = Object.keys(FLOODS).filter((name) => process.env.CI || !VARIANTS.includes(name));
