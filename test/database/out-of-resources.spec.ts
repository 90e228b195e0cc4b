import { DataSource } from 'typeorm';
import { Metrics } from '../../src/observability/metrics';
import { createLog } from '../../src/observability/log';
import { leadInput } from '../support/builders';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';

const WORDS = 'could not extend file "base/16384/2608": No space left on device';

describe('a PostgreSQL whose disk is full', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  const lines: string[] = [];
  beforeAll(async () => {
    const log = createLog('info', { write: (line: string) => void lines.push(line) });
    lanyard = await startInProcess({ metricsPort: 0, host: '127.0.0.1' }, log);
    tenant = await lanyard.tenant();
    await tenant.api.post('/leads', leadInput()).expect(200);
    await lanyard.app.get(DataSource).query(`
      create function fill_disk() returns trigger language plpgsql as
        $$ begin raise exception using errcode = '53100', message = '${WORDS}', detail = new::text; end $$;
      create trigger full_disk before insert on leads for each row execute function fill_disk()`);
  });

  it.each<[string, object, Record<string, string>]>([
    ['a create', {}, {}],
    ['a create under an Idempotency-Key', {}, { 'Idempotency-Key': 'once' }],
    ['a dry run', {}, { Prefer: 'tx=rollback' }],
  ])('answers %s with 503 and Retry-After', async (_, over, headers) => {
    const refused = await tenant.api.post('/leads', leadInput(over)).set(headers).expect(503);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.body).toEqual({ status: 503, error: 'Service Unavailable' });
  });

  it('goes on answering reads, and is ready', async () => {
    expect((await tenant.api.get('/leads').expect(200)).body.results.total).toBe(1);
    expect((await fetch(lanyard.baseUrl.replace('/api/v0', '/health/ready'))).status).toBe(200);
  });

  it('is in the log in its own words, without a value of a row', async () => {
    await tenant.api.post('/leads', leadInput({ lastName: 'Lovelace' })).expect(503);
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries).toContainEqual(expect.objectContaining({ level: 'warn', sqlState: '53100', message: WORDS }));
    expect(lines.join()).not.toMatch(/Lovelace|Rowe/);
  });

  it('is counted by a metric', async () => {
    const scraped = await fetch(`http://127.0.0.1:${lanyard.app.get(Metrics).port}/metrics`);
    expect(await scraped.text()).toMatch(/^lanyard_database_out_of_resources_total\{sqlstate="53100"\} 4$/m);
  });
});
