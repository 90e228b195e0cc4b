import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Lanyard as LanyardNode } from '../../clients/n8n/nodes/Lanyard/Lanyard.node';
import { LanyardTrigger } from '../../clients/n8n/nodes/Lanyard/LanyardTrigger.node';
import type { IDataObject, INodeExecutionData } from '../../clients/n8n/nodes/Lanyard/n8n-workflow';
import { FeedClock } from '../../src/feed/changes/feed-clock';
import { leadInput } from '../support/builders';
import { HubSpot } from '../support/hubspot';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { StandIn } from '../support/n8n';
import { Flow, type RunNode, type Workflow } from '../support/n8n-flow';
import { waitUntil } from '../support/wait';

/** The template "leads to HubSpot" with a real Lanyard, and stand-ins for n8n and HubSpot. */

const FILE = join(__dirname, '../../clients/n8n/templates/leads-to-hubspot.json');
const workflow = JSON.parse(readFileSync(FILE, 'utf8')) as Workflow;
const TOKEN = 'pat-test';
const trigger = new LanyardTrigger();
const node = new LanyardNode();
const { parameters } = workflow.nodes[0]!;

let lanyard: InProcess;
let tenant: Tenant;
let n8n: StandIn;
let hubspot: HubSpot;
let server: Server;
/** Milliseconds that the clock of the retries is ahead. */
let ahead = 0;
/** The statuses with which the workflow's webhook has responded. */
let responses: number[];

/** Sends the request of the node once for each item. A response that is no success is an error, as it is in n8n. */
const sendRequests: RunNode = async (items, fields) => {
  const results: INodeExecutionData[] = [];
  for (const item of items) {
    const { method, url, jsonBody } = fields(item) as Record<string, string>;
    const response = await fetch(url!.replace('https://api.hubapi.com', hubspot.url), {
      method,
      body: jsonBody,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    });
    if (!response.ok) throw new Error(`HubSpot: ${response.status} ${await response.text()}`);
    results.push({ json: response.status === 204 ? {} : ((await response.json()) as IDataObject) });
  }
  return [results];
};

const runLanyardNode: RunNode = (items, fields) =>
  node.execute.call(
    n8n.forItems(
      items.map(({ json }) => json),
      (json) => fields({ json }),
    ),
  );

/** Receives a message as n8n does: it responds when the workflow has ended. */
async function receive(headers: NodeJS.Dict<string | string[]>, body: Buffer): Promise<number> {
  let status: number | undefined;
  const context = n8n.forWebhook(parameters, headers, body, (code) => (status = code));
  const { workflowData } = await trigger.webhook.call(context);
  const flow = new Flow(workflow, {
    'n8n-nodes-base.httpRequest': sendRequests,
    'n8n-nodes-lanyard.lanyard': runLanyardNode,
  });
  for (const items of workflowData ?? []) await flow.run('When leads change', items);
  return status ?? 200;
}

beforeAll(async () => {
  lanyard = await startInProcess();
  Object.assign(lanyard.app.get(FeedClock), { pollIntervalMs: 25, now: () => new Date(Date.now() + ahead) });
});
beforeEach(async () => {
  tenant = await lanyard.tenant();
  n8n = new StandIn(lanyard, tenant.key);
  hubspot = await new HubSpot(TOKEN).listen();
  responses = [];
  server = createServer((request, response) => {
    void buffer(request)
      .then((body) => receive(request.headers, body).catch(() => 500))
      .then((status) => {
        responses.push(status);
        response.writeHead(status).end();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  n8n.webhookUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook/1`;
});
afterEach(async () => {
  await trigger.webhookMethods.default.delete.call(n8n.forHooks(parameters));
  hubspot.close();
  server.close();
  server.closeAllConnections();
});

const switchOn = () => trigger.webhookMethods.default.create.call(n8n.forHooks(parameters));

async function addLeads(count: number, first = 0): Promise<void> {
  const leads = Array.from({ length: count }, (_, n) => leadInput({ email: `Lead${first + n}@example.com` }));
  await tenant.api.post('/leads/batch', { matchBy: 'none', leads }).expect(200);
}

interface Lead {
  id: string;
  email: string | null;
  remoteIds: { id: string; integrationType: string }[];
}
const listLeads = (): Promise<Lead[]> => tenant.api.all<Lead>('/leads', 'leads');
/** Whether each lead with an address has its contact, the contact's ID, and nothing is left to send. */
async function isInStep(): Promise<boolean> {
  const leads = (await listLeads()).filter(({ email }) => email);
  return leads.every(({ email, remoteIds }) => {
    const contact = hubspot.contacts.get(remoteIds[0]?.id ?? '');
    return contact?.properties.email === email!.toLowerCase() && !contact.archived;
  });
}

it('creates a contact for each lead once, and writes its ID back', async () => {
  await addLeads(120);
  await tenant.api.post('/leads', leadInput({ email: undefined })).expect(200);
  await switchOn();
  await waitUntil(isInStep);
  expect(hubspot.contacts.size).toBe(120);
  const [lead] = await listLeads();
  await tenant.api.patch(`/leads/${lead!.id}`, { firstName: 'Zoë', jobTitle: 'Buyer' }).expect(200);
  await waitUntil(() => hubspot.contacts.get(lead!.remoteIds[0]!.id)?.properties.firstname === 'Zoë');
  expect(hubspot.contacts.get(lead!.remoteIds[0]!.id)!.properties).toMatchObject({
    jobtitle: 'Buyer',
    company: 'Cobalt Systems',
  });
  expect(hubspot.contacts.size).toBe(120);
  expect(responses.filter((status) => status >= 300)).toEqual([]);
});

it('loses and doubles nothing while HubSpot responds with 500 and 429', async () => {
  await switchOn();
  hubspot.failures = [500, 429, 503];
  await addLeads(30);
  await waitUntil(() => {
    ahead += 60_000;
    return hubspot.failures.length === 0;
  });
  await waitUntil(() => {
    ahead += 60_000;
    return isInStep();
  });
  expect(hubspot.emails).toHaveLength(30);
  expect(responses.filter((status) => status === 500)).toHaveLength(3);
});

it('archives the contacts of deleted leads', async () => {
  await addLeads(3);
  await switchOn();
  await waitUntil(isInStep);
  const leads = await listLeads();
  for (const { id } of leads.slice(0, 2)) await tenant.api.delete(`/leads/${id}`).expect(200);
  await waitUntil(() => hubspot.emails.length === 1);
  expect(hubspot.emails).toEqual([leads[2]!.email!.toLowerCase()]);
});

it('stores leads that share an address as one contact', async () => {
  await switchOn();
  const leads = [1, 2].map((n) => leadInput({ firstName: `Ada ${n}`, email: 'ada@example.com' }));
  await tenant.api.post('/leads/batch', { matchBy: 'none', leads }).expect(200);
  await waitUntil(() => hubspot.contacts.size > 0 && responses.length > 0);
  expect(hubspot.emails).toEqual(['ada@example.com']);
  expect(responses).not.toContain(500);
});

it('responds without data, because n8n takes an empty last node for an error', () => {
  expect(trigger.description.webhooks).toMatchObject([{ responseMode: 'lastNode', responseData: 'noData' }]);
});
