import { runInThisContext } from 'node:vm';
import { eventInput, createExhibitor, TEST_MARK, unique } from '../support/builders';
import { isDeployment } from '../support/deployment/deployment';
import { startLanyard, Tenant } from '../support/lanyard';

/** Sets the zone of this process: suites have a copy of its environment, of which V8 knows nothing. */
function setZone(zone?: string): void {
  runInThisContext(zone ? `process.env.TZ = '${zone}'` : 'delete process.env.TZ');
}

/** Both ends of the world; a deployment has a zone of its own. */
const ZONES: [string, number?][] = isDeployment
  ? [['its own zone']]
  : [
      ['Pacific/Kiritimati', -840],
      ['America/Los_Angeles', 480],
    ];

const ownZone = process.env.TZ;

describe.each(ZONES)('dates, of a server in %s', (zone, minutes) => {
  let tenant: Tenant;
  beforeAll(async () => {
    if (!isDeployment) setZone(zone);
    tenant = await (await startLanyard()).tenant();
  });
  afterAll(() => setZone(ownZone));

  it('are those of that zone', () => {
    const here = new Date(2026, 0, 1).getTimezoneOffset();
    expect(here).toBe(minutes ?? here);
  });

  it.each([
    '2026-01-01',
    '2026-12-31',
    '2024-02-29',
    '2026-03-29',
    '2026-10-25',
    '0001-01-01',
    '9999-12-31',
    '1582-10-10',
  ])('keeps the day %s', async (day) => {
    const { body } = await tenant.api.post('/events', eventInput({ startDate: day, endDate: day })).expect(200);
    expect(body.results).toMatchObject({ startDate: day, endDate: day });
    const input = { eventName: 'x', eventType: 'OTHER', startDate: day, endDate: day };
    const replaced = await tenant.api.put(`/events/${body.results.id}`, input).expect(200);
    expect(replaced.body.results).toMatchObject({ startDate: day, endDate: day });
    const sent = { sourceType: TEST_MARK, name: unique(), startDate: day };
    const created = await tenant.api.post('/industryEvents', sent).expect(200);
    expect(created.body.results.industryEvent.startDate).toBe(`${day}T00:00:00.000Z`);
  });

  it('keeps moments', async () => {
    const days = { startDate: '2026-05-04T23:30:00-07:00', endDate: '2026-05-05T20:30:00.001+14:00' };
    const body = { sourceType: TEST_MARK, name: unique(), ...days };
    const { industryEvent } = (await tenant.api.post('/industryEvents', body).expect(200)).body.results;
    expect(industryEvent).toMatchObject({ startDate: '2026-05-05T06:30:00.000Z', endDate: '2026-05-05T06:30:00.001Z' });
  });

  it('keeps what was imported', async () => {
    const { dataset, activation, lead } = createExhibitor();
    const { expo } = await tenant.import(dataset);
    const { startDate, endDate, startTime, endTime } = activation;
    expect((await tenant.api.get(`/events/${expo}`)).body.results).toMatchObject({ startDate, endDate });
    const shown = (await tenant.api.get(`/activations/${activation.id}`)).body.results;
    expect(shown).toMatchObject({ startDate, endDate, startTime, endTime });
    expect((await tenant.api.get(`/leads/${lead.id}`)).body.results.createdAt).toBe(lead.createdAt);
  });

  it('stamps records with the time that it is', async () => {
    const { body } = await tenant.api.post('/events', eventInput()).expect(200);
    expect(Math.abs(Date.parse(body.results.createdAt) - Date.now())).toBeLessThan(60_000);
  });
});
