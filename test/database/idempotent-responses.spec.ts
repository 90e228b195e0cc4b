import { DataSource } from 'typeorm';
import { leadInput } from '../support/builders';
import { startInProcess } from '../support/lanyard';

describe('a request with an Idempotency-Key', () => {
  it('writes nothing when its response cannot be stored, and its key is free', async () => {
    const lanyard = await startInProcess();
    const { api } = await lanyard.tenant();
    const db = lanyard.app.get(DataSource);
    const create = () => api.post('/leads', leadInput()).set('Idempotency-Key', 'scan-1');
    await db.query('alter table idempotent_answers add constraint no_more check (false) not valid');
    await create().expect(500);
    await db.query('alter table idempotent_answers drop constraint no_more');
    expect((await api.get('/leads').expect(200)).body.results.total).toBe(0);
    const { headers } = await create().expect(200);
    expect(headers).not.toHaveProperty('idempotency-replayed');
  });
});
