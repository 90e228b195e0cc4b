import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readOptions, run } from '../../scripts/services.mjs';
import { N8N_VERSION, requireN8n, type StoredWorkflow } from './n8n/n8n-server';
import { takePicture } from './n8n/picture';
import { type Defer, World } from './n8n/world';
import { record } from './results';
import { until } from './support/daemon';
import { Random } from './support/random';

/**
 * A real n8n plays the four templates of clients/n8n with a real Lanyard, while n8n is killed in the middle of runs, HubSpot
 * responds with errors, the key is rotated, and flows are switched off and on: in the end each lead is once in HubSpot and once
 * in the spreadsheet, and no webhook is left over.
 */

/** Rounds of a result to publish. In each, n8n is killed twice. */
const FULL = 3;
const FIRST_LEADS = 150;
const ROUND_LEADS = 40;
const DELETED_LEADS = 10;
const PATIENCE_MS = 240_000;
const SWITCH_OFF_MS = 30_000;
/** Between two comparisons of all leads, which take some requests. */
const POLL_MS = 500;
/** The longest time after which n8n is killed, when the kill is not tied to a request. */
const KILL_WITHIN_MS = 3000;

const options = readOptions({
  rounds: { type: 'string', default: String(FULL) },
  seed: { type: 'string', default: String((Date.now() % 1_000_000) + 1) },
  node: { type: 'string', default: process.execPath },
  folder: { type: 'string', default: join(homedir(), '.cache', `lanyard-n8n-${N8N_VERSION}`) },
  picture: { type: 'boolean' },
  keep: { type: 'boolean' },
}) as { rounds: number; seed: number; node: string; folder: string; picture?: boolean; keep?: boolean };
const random = new Random(options.seed);
const say = (text: string): boolean => process.stdout.write(`${text}\n`);

/** Waits until HubSpot and the spreadsheet have each lead once. */
async function untilInStep(world: World, what: string): Promise<void> {
  const tookMs = await until(
    `HubSpot and the spreadsheet have each lead once, ${what}`,
    async () => {
      await pause(POLL_MS);
      return (await world.findHubSpotDifferences()).length + (await world.findSheetDifferences()).length === 0;
    },
    PATIENCE_MS,
  );
  say(`  in step after ${(tookMs / 1000).toFixed(1)} s, ${what}: ${world.hubspot.emails.length} contacts`);
}

/** n8n is killed when HubSpot has stored contacts and has not responded yet, and once more at any time. */
async function killInTheMiddle(world: World): Promise<void> {
  const { hubspot, n8n } = world;
  const killed = new Promise<void>((resolve) => {
    hubspot.onChanged = async () => {
      hubspot.onChanged = () => undefined;
      await n8n.kill();
      resolve();
    };
  });
  await world.addLeads(ROUND_LEADS);
  await killed;
  await n8n.start();
  await world.addLeads(ROUND_LEADS);
  await world.resumeWebhooks();
  await pause(random.between(0, KILL_WITHIN_MS));
  await n8n.kill();
  await n8n.start();
  await world.resumeWebhooks();
}

/** HubSpot responds with 500 and 429, and n8n is stopped as at an upgrade. */
async function failAndStop(world: World): Promise<void> {
  world.hubspot.failures = [500, 429];
  await world.addLeads(ROUND_LEADS);
  await until('HubSpot has failed', () => world.hubspot.failures.length === 0, PATIENCE_MS);
  await world.addLeads(ROUND_LEADS);
  await pause(random.between(0, KILL_WITHIN_MS));
  await world.n8n.stop();
  await world.n8n.start();
  await world.resumeWebhooks();
}

/** The key is replaced while flows run, and the old one revoked. */
async function rotateKey(world: World): Promise<void> {
  const old = await world.rotateKey();
  await world.addLeads(ROUND_LEADS);
  await untilInStep(world, 'with a new key beside the old one');
  await world.operator('keys', 'revoke', old);
  await world.addLeads(ROUND_LEADS);
  await untilInStep(world, 'when the old key is revoked');
}

/** @returns the number of webhooks that are left over when flows are switched off, which n8n does in the background */
async function switchOff(world: World, flows: StoredWorkflow[]): Promise<number> {
  for (const flow of flows) await world.n8n.switchOff(flow);
  const hasNone = async (): Promise<boolean> => (await world.countWebhooks()) === 0;
  await until('no webhook is left over', hasNone, SWITCH_OFF_MS).catch(() => undefined);
  return world.countWebhooks();
}

/** @returns the number of webhooks that were left over while the flows were off */
async function switchOffAndOn(world: World, flows: StoredWorkflow[]): Promise<number> {
  const leftOver = await switchOff(world, flows);
  await world.addLeads(ROUND_LEADS);
  for (const flow of flows) await world.n8n.switchOn(flow);
  return leftOver;
}

/** Two people fill in the form, one of them twice. @returns whether each of them is one lead that is checked in */
async function fillInForm(world: World): Promise<boolean> {
  const eventId = await world.addEvent();
  const flow = await world.importTemplate('form-to-checked-in-lead', ({ nodes }) => {
    nodes.find(({ name }) => name === 'Check in')!.parameters.eventId = eventId;
  });
  await world.n8n.switchOn(flow);
  const people = ['ada', 'zoe', 'ada'].map((name) => [name, 'Rowe', 'Cobalt Systems', `${name}@form.example.com`]);
  for (const person of people) await world.n8n.submitForm(flow, person);
  const guests = async (): Promise<string[]> => {
    const path = `/events/${eventId}/leads`;
    const entries = await world.api.all<{ leadId: string; checkedIn: boolean }>(path, 'eventLeads');
    const leads = new Map((await world.listLeads()).map(({ id, email }) => [id, email]));
    return entries.filter(({ checkedIn }) => checkedIn).map(({ leadId }) => String(leads.get(leadId)));
  };
  await until('both are checked in', async () => new Set(await guests()).size >= 2, PATIENCE_MS);
  await until('the third form is done', async () => (await world.n8n.countRuns(flow)) === people.length, PATIENCE_MS);
  await world.n8n.switchOff(flow);
  return (await guests()).sort().join() === 'ada@form.example.com,zoe@form.example.com';
}

/** The nightly list, some seconds from now. @returns whether it has all leads */
async function sendList(world: World): Promise<boolean> {
  const flow = await world.importTemplate('nightly-list', ({ nodes }) => {
    nodes[0]!.parameters.rule = { interval: [{ field: 'seconds', secondsInterval: 5 }] };
  });
  await world.n8n.switchOn(flow);
  await until('the list is sent', () => world.mailbox.messages.length > 0, PATIENCE_MS);
  await world.n8n.switchOff(flow);
  const [, attached = ''] = /attachment[^]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(world.mailbox.messages[0]!) ?? [];
  const list = Buffer.from(attached, 'base64').toString();
  return (await world.listLeads()).every(({ id }) => list.includes(id));
}

/** @returns whether the contacts of deleted leads are archived */
async function deleteLeads(world: World): Promise<boolean> {
  const deleted = random.some(
    (await world.listLeads()).filter(({ email }) => email),
    DELETED_LEADS,
  );
  for (const { id } of deleted) await world.api.delete(`/leads/${id}`).expect(200);
  const emails = new Set(deleted.map(({ email }) => email?.toLowerCase()));
  await until(
    'their contacts are archived',
    () => !world.hubspot.emails.some((email) => emails.has(email)),
    PATIENCE_MS,
  );
  return (await world.findHubSpotDifferences()).length === 0;
}

async function main(defer: Defer): Promise<number> {
  requireN8n(options.node, options.folder);
  say(`n8n ${N8N_VERSION}, seed ${options.seed}, ${options.rounds} rounds`);
  const world = new World(defer, options.keep);
  await world.startLanyard();
  await world.startN8n(options.node, options.folder);
  await world.addLeads(FIRST_LEADS);
  const sheet = await world.importTemplate('leads-to-a-spreadsheet', ({ nodes }) => {
    const { parameters } = nodes.find(({ name }) => name === 'Append or update the row')!;
    parameters.documentId = { ...(parameters.documentId as object), value: 'spreadsheet' };
  });
  const flows = [await world.importTemplate('leads-to-hubspot'), sheet];
  for (const flow of flows) await world.n8n.switchOn(flow);
  await untilInStep(world, 'with the leads that were there');
  if (options.picture) {
    await takePicture(world, flows[0]!);
    return 0;
  }
  for (let round = 1; round <= options.rounds; round++) {
    await killInTheMiddle(world);
    await untilInStep(world, `after the kills of round ${round}`);
    await failAndStop(world);
    await untilInStep(world, `after the errors of round ${round}`);
  }
  await rotateKey(world);
  let leftOver = await switchOffAndOn(world, flows);
  await untilInStep(world, 'when the flows are on again');
  const isCheckedIn = await fillInForm(world);
  const isListed = await sendList(world);
  await untilInStep(world, 'with the leads of the form');
  const isArchived = await deleteLeads(world);
  const leads = (await world.listLeads()).length;
  leftOver += await switchOff(world, flows);
  const different = (await world.findHubSpotDifferences()).length + (await world.findSheetDifferences()).length;
  const measured =
    `n8n ${N8N_VERSION}, ${options.rounds} rounds (seed ${options.seed}), ${2 * options.rounds} kills of n8n, ${options.rounds} ` +
    `responses each of 500 and 429, ${options.rounds} restarts, a key rotated, flows switched off and on: ${leads} leads and ` +
    `${DELETED_LEADS} deleted ones, ${different} lost or doubled in HubSpot or the spreadsheet, ${leftOver} webhooks left over; ` +
    `forms ${isCheckedIn ? '' : 'not '}checked in once each, list ${isListed ? '' : 'not '}complete`;
  const kept = different === 0 && leftOver === 0 && isCheckedIn && isListed && isArchived;
  record({ promise: 'leads that n8n delivers', measured, kept }, options.rounds >= FULL);
  return kept ? 0 : 1;
}

void run(main);
