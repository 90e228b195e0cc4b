import { DataSource } from 'typeorm';
import { eventInput, leadInput } from './support/builders';
import { InProcess, startInProcess, Tenant } from './support/lanyard';

describe('a database that takes its time', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeAll(async () => {
    lanyard = await startInProcess();
    tenant = await lanyard.tenant();
    // 1.5 s are what a statement has, and 2 s are for how long its answer is waited for.
    await lanyard.app.get(DataSource).query(`
      create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(2.1); return old; end $$;
      create trigger dawdling before delete on events for each row execute function dawdle();
      create trigger dawdling before delete on leads for each row execute function dawdle()`);
  });
  afterAll(() => lanyard.stop());

  it('costs a client 500 after two seconds, and nothing is changed', async () => {
    const { body } = await tenant.api.post('/leads', leadInput()).expect(200);
    await tenant.api.delete(`/leads/${body.results.id}`).expect(500, { status: 500, error: 'Internal Server Error' });
    await tenant.api.get(`/leads/${body.results.id}`).expect(200, body);
  });

  it('may delete an event, which can have a million leads', async () => {
    const { body } = await tenant.api.post('/events', eventInput()).expect(200);
    await tenant.api.delete(`/events/${body.results.id}`).expect(200);
    await tenant.api.get(`/events/${body.results.id}`).expect(404);
  });
});

describe('a COMMIT that does not return, as when the synchronous standby is away,', () => {
  it('costs its client two seconds, and its connection serves nobody else', async () => {
    const lanyard = await startInProcess({ poolSize: 1 });
    const tenant = await lanyard.tenant();
    // Deferred to the COMMIT, where statement_timeout does not reach.
    await lanyard.app.get(DataSource).query(`
      create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(30); return null; end $$;
      create constraint trigger dawdling after insert on leads deferrable initially deferred
        for each row execute function dawdle()`);
    await tenant.api.post('/leads', leadInput()).set('idempotency-key', 'scan-1').expect(500);
    await tenant.api.get('/leads').expect(200);
    await lanyard.stop();
  });
});
