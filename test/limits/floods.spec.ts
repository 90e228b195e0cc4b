import { gzipSync } from 'node:zlib';
import { ask, type Answer } from '../prove/support/ask';
import { leadInput } from '../support/builders';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { FLOODS, type Send } from './floods';

/** What a default key may send at once. */
const BURST = 20;
const CONNECTIONS = 100;
const BODY_BYTES = 1_048_576;

/** Requests that cost a server far more than their sender must not keep it from serving another organization. */
describe('a flood of one organization', () => {
  let lanyard: InProcess;
  let flooding: Tenant;
  let other: Tenant;
  let port: number;
  beforeAll(async () => {
    lanyard = await startInProcess();
    [flooding, other] = await Promise.all([lanyard.tenant(), lanyard.tenant()]);
    port = Number(new URL(lanyard.baseUrl).port);
  });

  /** @returns how often each status came, or each error of the network */
  const statusesOf = (answers: Answer[]): string[] => [
    ...new Set(answers.map(({ status, error }) => String(status ?? error))),
  ];

  /** What another organization does meanwhile: it must be answered, however long a busy machine takes. */
  const serveOther = async (): Promise<void> => {
    await other.api.get('/leads?limit=50').expect(200);
    await other.api.post('/leads', leadInput()).expect(200);
    await other.api.get('/leads?limit=50').expect(200);
  };

  it('of bodies that unpack to 350,000 values is rejected', async () => {
    const start = `${JSON.stringify(leadInput()).slice(0, -1)},"unknown":[{}`;
    const values = ',{}'.repeat(Math.floor((BODY_BYTES - start.length - 2) / 3));
    const body = gzipSync(`${start}${values}]}`.padEnd(BODY_BYTES), { level: 9 });
    const headers = { 'content-encoding': 'gzip' };
    const send = () => ask(port, { method: 'POST', path: '/api/v0/leads', key: flooding.key, headers, body });
    const [answers] = await Promise.all([Promise.all(Array.from({ length: CONNECTIONS }, send)), serveOther()]);
    expect(statusesOf(answers).filter((status) => status !== '413' && status !== '503')).toEqual([]);
  }, 60_000);

  it.each(Object.keys(FLOODS))(
    'of %s is answered, and so are others',
    async (name) => {
      const prepare: Send = async (request) => {
        const { status, error, body } = await ask(port, { ...request, key: flooding.key });
        if (status !== 200) throw new Error(`${request.method} ${request.path}: ${status ?? error}`);
        return body?.results as Record<string, unknown>;
      };
      const next = await FLOODS[name]?.(prepare);
      if (!next) throw new Error(`There is no flood of ${name}`);
      const { key } = await flooding.issueKey({ maxTokens: BURST, refillRate: 1 });
      const send = () => ask(port, { ...next(), key, isDiscarded: true });
      const [answers] = await Promise.all([Promise.all(Array.from({ length: BURST }, send)), serveOther()]);
      const allowed = ['200', '413', '503'];
      expect(statusesOf(answers).filter((status) => !allowed.includes(status))).toEqual([]);
      expect(answers.length).toBe(BURST);
    },
    120_000,
  );
});
