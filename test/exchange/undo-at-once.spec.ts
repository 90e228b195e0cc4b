import { randomUUID } from 'node:crypto';
import { asOperator } from '../support/database';
import { install } from '../support/operator';

/** Enough records for the import to analyze its tables. */
const LEADS = 1500;

describe('the undo of an import, before PostgreSQL has analyzed the tables', () => {
  it('reads a few entries of the audit log for each record, not all of them', async () => {
    const { database, operator, server } = await install();
    const db = await asOperator(database.url);
    await db.query('alter table audit_log set (autovacuum_enabled = false)');
    const { organizationId } = await server.tenant();
    const records = Array.from({ length: LEADS }, (_, n) => ({ id: randomUUID(), firstName: `Ada ${n}` }));
    const organization = ['--organization', String(organizationId)];
    const entriesRead = async (): Promise<number> => {
      await db.query('select pg_stat_force_next_flush()');
      const [row] = await db.query<{ read: string }[]>(
        `select sum(idx_tup_read) as read from pg_stat_user_indexes where relname = 'audit_log'`,
      );
      return Number(row?.read);
    };
    const { importId } = await operator.json<{ importId: string }>(
      ['import', '-', ...organization],
      JSON.stringify({ leads: records }),
    );

    const before = await entriesRead();
    const { deleted } = await operator.json<{ deleted: object }>(['imports', 'undo', importId, ...organization]);
    expect(deleted).toEqual({ leads: LEADS });
    expect((await entriesRead()) - before).toBeLessThan(20 * LEADS);
  });
});
