import { startLanyard, type TestLanyard } from 'lanyard/testing';
import request from 'supertest';
import { extension } from '../src/extension';

let lanyard: TestLanyard;
beforeAll(async () => void (lanyard = await startLanyard({ extension })));
afterAll(() => lanyard?.stop());

const LEAD = '0197f5a0-0000-7000-8000-000000000012';
const MEETING = { id: '0197f5a0-0000-7000-8000-000000000011', lead: LEAD, startsAt: '2026-05-04T09:00:00.000Z' };

it('keeps the meetings of a lead', async () => {
  const organization = await lanyard.createOrganization();
  const send = (method: 'get' | 'post' | 'patch', path: string, body?: object, { key } = organization) =>
    request(lanyard.url)[method](path).set('x-api-key', key).send(body);
  await organization.import({ leads: [{ id: LEAD, lastName: 'Lovelace' }], meetings: [MEETING] });

  const price = 149.95;
  const startsAt = '2026-05-04T12:00:00+01:00';
  const { results } = (await send('post', `/leads/${LEAD}/meetings`, { startsAt, price }).expect(200)).body;
  expect(results).toMatchObject({ leadId: LEAD, startsAt: '2026-05-04T11:00:00.000Z', price });
  const conflict = await send('patch', `/meetings/${results.id}`, { startsAt: MEETING.startsAt }).expect(409);
  expect(conflict.body).toEqual({ status: 409, error: 'Another meeting starts at that time' });
  await send('patch', `/meetings/${results.id}`, { price: null }).expect(200);

  const page = await send('get', `/leads/${LEAD}/meetings`).expect(200);
  expect(page.body.results).toMatchObject({
    meetings: [{ id: MEETING.id }, { id: results.id, price: null }],
    total: 2,
  });
  const one = await send('get', `/meetings/${MEETING.id}`).expect(200);
  expect(one.body.results).toMatchObject({ meeting: { id: MEETING.id }, lead: { id: LEAD, lastName: 'Lovelace' } });

  const other = await lanyard.createOrganization();
  await send('get', `/meetings/${MEETING.id}`, undefined, other).expect(404);
  await send('post', `/leads/${LEAD}/meetings`, { startsAt }, other).expect(404);
  await send('get', `/leads/${LEAD}/meetings`, undefined, other).expect(404);

  const clash = { ...MEETING, id: '0197f5a0-0000-7000-8000-000000000013' };
  await expect(organization.import({ meetings: [clash] })).rejects.toThrow('meetings[0].startsAt');
});
