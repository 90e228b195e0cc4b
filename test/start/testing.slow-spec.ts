import request from 'supertest';
import { DataSource } from 'typeorm';
import { Config } from '../../src/config';
import { startLanyard, type TestLanyard } from '../../src/testing';
import { query } from '../../src/testing/test-database';
import { createExhibitor, leadInput } from '../support/builders';

describe.each([
  ['an embedded PostgreSQL', undefined],
  ['a database of a given server', process.env.LANYARD_TEST_SERVER],
])('lanyard/testing on %s', (_, databaseUrl) => {
  let lanyard: TestLanyard;
  beforeAll(async () => {
    lanyard = await startLanyard({ databaseUrl });
  }, 120_000);
  afterAll(() => lanyard.stop());

  const leads = (key: string) => request(lanyard.url).get('/leads').set('x-api-key', key);

  it('creates organizations, each with a key whose limits no test reaches', async () => {
    const [one, other] = [await lanyard.createOrganization(), await lanyard.createOrganization('Other')];
    expect(one.name).toBe('Test organization');
    expect(other.name).toBe('Other');
    await request(lanyard.url).post('/leads').set('x-api-key', one.key).send(leadInput()).expect(200);
    const response = await leads(one.key).expect(200);
    expect(response.body.results.total).toBe(1);
    expect(response.headers['x-ratelimit-limit']).toBe('1000000');
    expect((await leads(other.key).expect(200)).body.results.total).toBe(0);
  });

  it('issues keys with limits of their own', async () => {
    const organization = await lanyard.createOrganization();
    const { key } = await organization.issueKey({ maxTokens: 1, refillRate: 0.001 });
    await leads(key).expect(200);
    await leads(key).expect(429);
  });

  it('gives keys the scope that a test asks for', async () => {
    const organization = await lanyard.createOrganization({ name: 'Booth', scope: 'capture' });
    expect(organization.name).toBe('Booth');
    const { headers } = await leads(organization.key).expect(403);
    expect(headers).toMatchObject({ 'lanyard-key-scope': 'capture', 'lanyard-fault-reason': 'scope' });
    const reader = await organization.issueKey({ scope: 'read' });
    expect((await leads(reader.key).expect(200)).headers['lanyard-key-scope']).toBe('read');
    await request(lanyard.url).post('/leads').set('x-api-key', reader.key).send(leadInput()).expect(403);
    const usual = await organization.issueKey();
    expect((await leads(usual.key).expect(200)).headers).not.toHaveProperty('lanyard-key-scope');
  });

  it('imports records', async () => {
    const organization = await lanyard.createOrganization();
    const { dataset } = createExhibitor();
    expect(await organization.import(dataset)).toMatchObject({ leads: 1, events: 1, leadActivityEvents: 1 });
    expect((await leads(organization.key).expect(200)).body.results.total).toBe(1);
  });

  it('simulates faults', async () => {
    const { key } = await lanyard.createOrganization();
    await leads(key).set('Lanyard-Simulate', 'status=503').expect(503);
  });

  it('empties every organization, and their keys go on', async () => {
    const organization = await lanyard.createOrganization();
    const { dataset, lead } = createExhibitor();
    await organization.import(dataset);
    const changes = () => request(lanyard.url).get('/changes').set('x-api-key', organization.key);
    const { cursor } = (await changes().expect(200)).body.results as { cursor: string };
    await lanyard.reset();
    expect((await leads(organization.key).expect(200)).body.results).toMatchObject({ total: 0, leads: [] });
    await changes().query({ cursor }).expect(410);
    expect((await changes().expect(200)).body.results.changes).toEqual([]);
    await organization.import(dataset);
    expect((await leads(organization.key).expect(200)).body.results.leads).toMatchObject([{ id: lead.id }]);
    const [{ disabled } = {}] = await lanyard.app
      .get(DataSource)
      .query<{ disabled: number }[]>(
        "select count(*)::integer as disabled from pg_trigger where not tgisinternal and tgenabled <> 'O'",
      );
    expect(disabled).toBe(0);
  });

  it('says that a port is in use', async () => {
    const { port } = new URL(lanyard.url);
    await expect(startLanyard({ databaseUrl, port: Number(port) })).rejects.toThrow(`port ${port} is already in use`);
  });

  it('stops twice as once, and its database is gone', async () => {
    const own = await startLanyard({ databaseUrl });
    const { databaseUrl: database = '' } = own.app.get(Config);
    expect(await query(database, 'select from organizations')).toEqual([]);
    await Promise.all([own.stop(), own.stop()]);
    await expect(fetch(own.url)).rejects.toThrow();
    await expect(query(database, 'select from organizations')).rejects.toThrow();
  });
});
