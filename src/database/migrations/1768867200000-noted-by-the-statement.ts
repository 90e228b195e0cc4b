import { MigrationInterface, QueryRunner } from 'typeorm';
import { renewLists, trackedLists } from '../list-triggers';

/** What imports spent most of PostgreSQL's time on beside rows, documents and foreign keys. */
export class NotedByTheStatement1768867200000 implements MigrationInterface {
  /** An import notes changes of lists once a statement, and each time in a row of their own (see there). */
  async up(db: QueryRunner): Promise<void> {
    const lists = await trackedLists(db);
    const tables = new Set(lists.map(({ table }) => table));
    // Before `lists`, as who writes does: else readers would wait for `lists` while it waits for writers.
    await db.query(`lock table ${[...tables].join(', ')} in share row exclusive mode`);
    await db.query(renewLists(lists));
    // An import writes what belongs to leads before the leads.
    await db.query(renderLeads(STORED));
  }

  /** The functions of lists stay: those before can be used with them. */
  async down(db: QueryRunner): Promise<void> {
    await db.query(renderLeads(GIVEN));
  }
}

const GIVEN = 'select distinct i from unnest(ids) i order by i';
/** Each looked up by itself, since the plan of one look-up is good at any size of the table. */
const STORED = `
      select l.id from (select distinct i from unnest(ids) i) given, lateral (
        select id from leads where organization_id = of_organization and id = given.i offset 0
      ) l order by l.id`;

/** An update of a lead renders it anew: one by one, in the order of their ids, so that two changes do not lock each other out. */
const renderLeads = (leads: string): string => `
  create or replace function render_leads(of_organization integer, ids uuid[]) returns void language plpgsql as $$
  declare
    lead_id uuid;
  begin
    for lead_id in ${leads} loop
      update leads set document = '' where organization_id = of_organization and id = lead_id;
    end loop;
  end $$;`;
