import { readFileSync } from 'node:fs';
import { DataSource } from 'typeorm';
import { leadInput } from '../support/builders';
import { type InProcess, startInProcess } from '../support/lanyard';

/** The statement that docs/operations.md advises, with `LEADID` for the lead. */
const [, STATEMENT = ''] =
  /-c "(delete from idempotent_answers .+)"/.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];

describe('erasing a person as docs/operations.md says', () => {
  let lanyard: InProcess;
  beforeAll(async () => void (lanyard = await startInProcess()));

  it('removes the stored responses that contain the lead, of a batch, too, and no others', async () => {
    const { api } = await lanyard.tenant();
    const input = leadInput({ email: 'ada@example.com' });
    const send = (path: string, body: object, key: string) =>
      api.post(path, body).set('Idempotency-Key', key).expect(200);
    const { id } = (await send('/leads', input, 'create')).body.results as { id: string };
    await send('/leads/batch', { matchBy: 'email', leads: [input] }, 'batch');
    await send('/leads', leadInput({ email: 'grace@example.com' }), 'another');

    const db = lanyard.app.get(DataSource);
    await db.query(STATEMENT.replace('LEADID', id));

    const rows: { idempotency_key: string }[] = await db.query('select idempotency_key from idempotent_answers');
    expect(rows).toEqual([{ idempotency_key: 'another' }]);
  });
});
