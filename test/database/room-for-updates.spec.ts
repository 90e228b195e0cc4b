import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { createExhibitor } from '../support/builders';
import { startInProcess, type Tenant } from '../support/lanyard';

/** As many as fill some pages of both tables. */
const LEADS = 300;

describe('a row that an import has written stays in its page when it changes', () => {
  let db: DataSource;
  let tenant: Tenant;
  const leadIds = Array.from({ length: LEADS }, () => randomUUID());

  beforeAll(async () => {
    const lanyard = await startInProcess();
    db = lanyard.app.get(DataSource);
    tenant = await lanyard.tenant();
    const { dataset, lead } = createExhibitor();
    const leads = leadIds.map((id) => ({ ...lead, id }));
    await tenant.import({ ...dataset, leads, leadActivityEvents: [] });
  });

  const pages = async (table: string): Promise<Record<string, string>> => {
    const rows = await db.query<{ id: string; page: string }[]>(
      `select ${table === 'leads' ? 'id' : 'lead_id as id'}, (ctid::text::point)[0] as page from ${table}`,
    );
    return Object.fromEntries(rows.map(({ id, page }) => [id, page]));
  };

  it('one lead of each page', async () => {
    const before = await pages('leads');
    const firstOfPages = leadIds.filter(
      (id, index) => leadIds.findIndex((each) => before[each] === before[id]) === index,
    );
    expect(firstOfPages.length).toBeGreaterThan(20);
    for (const id of firstOfPages) await tenant.api.patch(`/leads/${id}`, { jobTitle: 'Director' }).expect(200);
    expect(await pages('leads')).toEqual(before);
  });

  it('twenty leads of an event', async () => {
    const before = await pages('event_leads');
    const [{ id }] = (await tenant.api.get('/events').expect(200)).body.results.events;
    const eventLeads = leadIds.slice(0, 20).map((leadId) => ({ leadId, registered: false, checkedIn: false }));
    await tenant.api.put(`/events/${id}/leads`, { eventLeads }).expect(200);
    expect(await pages('event_leads')).toEqual(before);
  });
});
