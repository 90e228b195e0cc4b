import { Random } from '../prove/support/random';
import { eventInput, industryEventInput, leadInput, unique } from '../support/builders';
import { startLanyard, Tenant, withTenant } from '../support/lanyard';

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const random = new Random(1);
const shuffled = <T>(items: T[]): T[] => random.some(items);

describe('concurrency', () => {
  let tenant: Tenant;
  beforeAll(async () => void ([, tenant] = await withTenant(startLanyard())));

  const lead = async (): Promise<string> => (await tenant.api.post('/leads', leadInput()).expect(200)).body.results.id;
  const event = async (): Promise<number> =>
    (await tenant.api.post('/events', eventInput()).expect(200)).body.results.id;

  it('makes one industry event of an eventUrl, and says so in one answer alone', async () => {
    const urls = times(5, () => `https://example.com/${unique()}`);
    const answers = await Promise.all(
      shuffled(urls.flatMap((url) => times(20, () => url))).map(async (eventUrl) => {
        const { body } = await tenant.api.post('/industryEvents', industryEventInput({ eventUrl })).expect(200);
        return { eventUrl, created: body.results.created, id: body.results.industryEvent.id };
      }),
    );
    for (const url of urls) {
      const ofUrl = answers.filter(({ eventUrl }) => eventUrl === url);
      expect(ofUrl.filter(({ created }) => created)).toHaveLength(1);
      expect(new Set(ofUrl.map(({ id }) => id)).size).toBe(1);
      expect((await tenant.api.get('/industryEvents', { eventUrl: url })).body.results.total).toBe(1);
    }
  });

  it('lets overlapping associations through, in any order', async () => {
    const id = await event();
    const leads = await Promise.all(times(40, lead));
    await Promise.all(
      times(40, (i) =>
        tenant.api
          .put(`/events/${id}/leads`, {
            eventLeads: shuffled(leads).map((leadId) => ({ leadId, registered: i % 2 === 0 })),
          })
          .expect(200),
      ),
    );
    const listed = await tenant.api.all<{ leadId: string; registered: boolean }>(`/events/${id}/leads`, 'eventLeads');
    expect(listed.map(({ leadId }) => leadId).sort()).toEqual([...leads].sort());
    // Each PUT is all or nothing, so the flags are those of one of them.
    expect(new Set(listed.map(({ registered }) => registered)).size).toBe(1);
  });

  it('loses no change of a lead', async () => {
    const id = await lead();
    const fields = ['jobTitle', 'address', 'linkedin', 'facebook', 'twitter', 'description', 'firstName', 'lastName'];
    const types = ['WEBHOOK', 'MARKETO', 'HUB_SPOT', 'ZOHO', 'SALES_FORCE', 'PIPE_DRIVE', 'ELOQUA', 'PARDOT'];
    await Promise.all([
      ...fields.map((field) => tenant.api.patch(`/leads/${id}`, { [field]: `new ${field}` }).expect(200)),
      ...types.map((integrationType) =>
        tenant.api.patch(`/leads/${id}`, { remoteId: { id: 'r', integrationType } }).expect(200),
      ),
    ]);
    const { body } = await tenant.api.get(`/leads/${id}`);
    for (const field of fields) expect(body.results[field]).toBe(`new ${field}`);
    const ids = body.results.remoteIds.map(({ integrationType }: { integrationType: string }) => integrationType);
    expect(ids.sort()).toEqual([...types].sort());
  });

  it('answers 200 or 404 when leads and events are deleted under an association', async () => {
    for (const round of times(10, (i) => i)) {
      const [id, leads] = [await event(), await Promise.all(times(10, lead))];
      const gone = round % 2 === 0 ? `/leads/${leads[0]}` : `/events/${id}`;
      const answers = await Promise.all([
        ...times(6, () =>
          tenant.api.put(`/events/${id}/leads`, { eventLeads: shuffled(leads).map((leadId) => ({ leadId })) }),
        ),
        tenant.api.delete(gone),
        tenant.api.delete(gone),
      ]);
      expect(answers.filter(({ status }) => status !== 200 && status !== 404)).toEqual([]);
      await tenant.api.get(gone).expect(404);
    }
  });

  it('lets one record take an eventUrl', async () => {
    const ids = await Promise.all(
      times(
        8,
        async () => (await tenant.api.post('/industryEvents', industryEventInput())).body.results.industryEvent.id,
      ),
    );
    const eventUrl = `https://example.com/${unique()}`;
    const answers = await Promise.all(ids.map((id) => tenant.api.put(`/industryEvents/${id}`, { eventUrl })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...times(7, () => 400)]);
    const refused = answers.find(({ status }) => status === 400);
    expect(refused?.body.error).toBe("Missing or invalid 'eventUrl'");
  });

  it('never lets two changes of an industry event, each sound alone, put its end before its start', async () => {
    const days = { startDate: '2026-05-01', endDate: '2026-05-10' };
    for (const round of times(10, (i) => i)) {
      const { body } = await tenant.api.post('/industryEvents', industryEventInput(days)).expect(200);
      const path = `/industryEvents/${body.results.industryEvent.id}`;
      const changes = [{ startDate: '2026-05-08' }, { endDate: '2026-05-05' }];
      const answers = await Promise.all(changes.map((change) => tenant.api.put(path, change)));
      expect([round, ...answers.map(({ status }) => status).sort()]).toEqual([round, 200, 400]);
      const { startDate, endDate } = (await tenant.api.get(path).expect(200)).body.results.industryEvent;
      expect(startDate < endDate).toBe(true);
    }
  });
});
