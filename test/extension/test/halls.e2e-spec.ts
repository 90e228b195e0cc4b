import { startLanyard, type TestLanyard } from 'lanyard/testing';
import request from 'supertest';
import { extension } from '../src/extension';

let lanyard: TestLanyard;
beforeAll(async () => void (lanyard = await startLanyard({ extension })));
afterAll(() => lanyard?.stop());

it('creates a hall', async () => {
  const { key } = await lanyard.createOrganization();
  await request(lanyard.url).post('/halls').set('x-api-key', key).send({ name: 'North' }).expect(200);
  const { body } = await request(lanyard.url).get('/halls').set('x-api-key', key).expect(200);
  expect(body).toMatchObject({ results: [{ name: 'North' }] });
});
