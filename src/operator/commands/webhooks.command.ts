import { getSystemErrorMap } from 'node:util';
import { type Command, Option } from 'commander';
import { readConfig } from '../../config';
import { ReceiverLookup } from '../../webhooks/receiver-lookup';
import { type DeliveryResult, isAcknowledged } from '../../changes/delivery-result';
import { urlError } from '../../webhooks/webhook-url';
import {
  type ListedWebhook,
  MAX_COUNTED_CHANGES,
  MAX_WEBHOOKS,
  TooManyWebhooks,
  type WaitingChanges,
  WebhooksService,
} from '../../webhooks/webhooks.service';
import {
  addCommand,
  type CommandDescription,
  parseChoice,
  parseDuration,
  parser,
  parseUuid,
  DURATION_HELP,
  organizationOption,
  parseOrganizationId,
  findOrganization,
  requireFound,
} from '../arguments';
import type { Session } from '../session';
import { formatTable } from '../terminal/table';
import { CommandError, UsageError } from '../terminal/terminal';

const EXAMPLE_ID = '0197f0a2-6c1e-7d55-9d0e-3b0f5a6c7d8e';
const DAY_S = 86_400;
const WEBHOOK_JSON =
  '{id, organizationId, url, subscription, resources, state, lastSuccessAt, lastStatus, lastError, failingSince, nextAttemptAt, ' +
  'waiting: {phase, changes, since} or null, createdAt}, where url has no query (it is null for a method with @OnChanges, which subscription names) and waiting changes are counted up to 100';

const parseWebhookId = parseUuid('ID must be the ID of a webhook, which is a UUID (run "webhooks list" for the IDs)');

type Since = 'now';
const parseSince = parseChoice<Since>('--since', ['now']);

function parseUrl(value: string): string {
  const { webhookHttp, webhookPrivate } = readConfig();
  const lookup = new ReceiverLookup({ allowPrivate: webhookPrivate === 'on' });
  const error = urlError(value, webhookHttp === 'on', lookup);
  if (error) throw new UsageError(`--url ${error}`);
  return new URL(value).href;
}

const RESUME_NOTES = `
Webhooks are paused in a database that was restored or copied, because they
would send to the receivers of the original. Resume them if this database
replaces the original. In a copy for tests, delete them.`;

/** The command `webhooks …`. */
export function webhooksCommand(program: Command, session: Session): void {
  const group = addCommand(program, 'webhooks', {
    summary: 'Send the changes of an organization to a URL.',
    example: 'webhooks create --organization 1 \\\n    --url https://crm.example.com/lanyard',
  });
  addCreateCommand(group, session);
  addCommand(group, 'list', {
    summary: 'List webhooks, oldest first.',
    jsonResult: `[${WEBHOOK_JSON}]`,
    example: 'webhooks list',
  })
    .option('--organization <ID>', 'list only the webhooks of this organization', parseOrganizationId('--organization'))
    .action(async ({ organization }: { organization?: number }) => {
      const webhooks = await session.withServices(async (services) => {
        if (organization !== undefined) await findOrganization(services, organization);
        return services.get(WebhooksService).list(organization);
      });
      await session.print(webhooks, () => (webhooks.length > 0 ? webhooksTable(webhooks) : 'There are no webhooks.'));
    });
  addStateCommands(group, session);
  addSecretCommands(group, session);
}

interface CreateOptions {
  organization?: number;
  url: string;
  resources?: string[];
  since?: Since;
}

function addCreateCommand(group: Command, session: Session): void {
  const { feedResources } = session;
  const names = feedResources.names.join(', ');
  addCommand(group, 'create', {
    summary: 'Create a webhook. Its secret is shown only this once.',
    notes: `An organization can have up to ${MAX_WEBHOOKS} webhooks.`,
    jsonResult: '{id, secret, organizationId, url, resources, state}',
    example:
      'webhooks create --organization 1 \\\n    --url https://crm.example.com/lanyard --resources leads,eventLeads',
  })
    .option(...organizationOption('organization whose changes to send'))
    .requiredOption('--url <URL>', 'URL to send to, such as https://crm.example.com/lanyard', parseUrl)
    .option(
      '--resources <NAMES>',
      `comma-separated list of ${names} (default: all)`,
      parser(`--resources must be a comma-separated list of ${names}, without duplicates`, (value) => {
        const chosen = value.split(',');
        return feedResources.hasNames(chosen) ? chosen : undefined;
      }),
    )
    .option('--since <MOMENT>', '"now": skip the initial snapshot', parseSince)
    .action(async ({ organization, url, resources, since }: CreateOptions) => {
      const created = await session.withServices(async (services) => {
        const { id } = await findOrganization(services, organization);
        const creating = services.get(WebhooksService).create(id, url, resources, since);
        return creating.catch((error: unknown) => {
          if (!(error instanceof TooManyWebhooks)) throw error;
          throw new CommandError(`Organization ${id} already has the maximum of ${MAX_WEBHOOKS} webhooks.`);
        });
      });
      await session.print(
        created,
        () => `Webhook ${created.id}\n${secretText(created.secret)}`,
        `Webhook ${created.id} was created, but its secret was not shown. Run "webhooks rotate-secret".`,
      );
    });
}

const secretText = (secret: string): string => `Secret, shown only this once: ${secret}`;

/** Adds a command whose argument is the ID of a webhook. */
const addCommandOfOne = (group: Command, name: string, description: Omit<CommandDescription, 'example'>): Command =>
  addCommand(group, name, { ...description, example: `webhooks ${name} \\\n    ${EXAMPLE_ID}` }).argument(
    '<ID>',
    'ID of the webhook (see "webhooks list")',
    parseWebhookId,
  );

/** @throws CommandError if the webhook does not exist */
const withWebhook = async <T>(
  session: Session,
  id: string,
  work: (webhooks: WebhooksService) => Promise<T | null>,
): Promise<T> =>
  requireFound('Webhook', id, await session.withServices((services) => work(services.get(WebhooksService))));

/** Commands that change whether and from where a webhook sends. */
function addStateCommands(group: Command, session: Session): void {
  const printState = (webhook: ListedWebhook): Promise<void> => session.print(webhook, () => stateText(webhook));
  addCommandOfOne(group, 'disable', {
    summary: 'Stop sending.',
    notes: 'The webhook keeps its position, from which "webhooks enable" resumes.',
    jsonResult: WEBHOOK_JSON,
  }).action(async (id: string) => printState(await withWebhook(session, id, (webhooks) => webhooks.disable(id))));
  addCommandOfOne(group, 'enable', {
    summary: 'Resume immediately from where the webhook stopped.',
    jsonResult: WEBHOOK_JSON,
  })
    .option('--since <MOMENT>', '"now": skip the changes that were missed', parseSince)
    .action(async (id: string, { since }: { since?: Since }) =>
      printState(await withWebhook(session, id, (webhooks) => webhooks.enable(id, since))),
    );
  addCommand(group, 'resume', {
    summary: 'Resume a paused webhook, or all of them, with a snapshot of all records.',
    jsonResult: `[${WEBHOOK_JSON}], also with an ID`,
    example: `webhooks resume \\\n    ${EXAMPLE_ID}`,
  })
    .argument('[ID]', 'ID of the webhook (default: all paused webhooks)', parseWebhookId)
    .addHelpText('after', RESUME_NOTES)
    .action(async (id?: string) => {
      const resumed =
        id === undefined
          ? await session.withServices((services) => services.get(WebhooksService).resumeAll())
          : [await withWebhook(session, id, (webhooks) => webhooks.resume(id))];
      await session.print(resumed, () => resumed.map(stateText).join('\n') || 'No webhook is paused.');
    });
  addCommandOfOne(group, 'delete', { summary: 'Delete a webhook.', jsonResult: '{id}' }).action(async (id: string) => {
    const deleted = await withWebhook(session, id, (webhooks) => webhooks.delete(id));
    await session.print(deleted, () => `Deleted webhook ${id}.`);
  });
}

const stateText = ({ id, state }: ListedWebhook): string => `Webhook ${id} is ${state}.`;

function addSecretCommands(group: Command, session: Session): void {
  addCommandOfOne(group, 'test', {
    summary: 'Send a ping to a webhook now, whatever its state.',
    jsonResult: '{status, milliseconds} or {error}',
  }).action(async (id: string) => {
    const result = await withWebhook(session, id, (webhooks) => webhooks.test(id));
    const isSuccess = isAcknowledged(result);
    const message = pingText(result);
    // Without --json, the message of a failure is printed only once, as the error.
    if (session.json || isSuccess) await session.print(pingJson(result), () => message);
    if (!isSuccess) throw new CommandError(message);
  });
  addCommandOfOne(group, 'rotate-secret', {
    summary: 'Give a webhook a new secret. Until the overlap ends, messages are signed with both.',
    jsonResult: '{id, secret, oldExpiresAt}',
  })
    .addOption(
      new Option('--overlap <TIME>', `how long both secrets sign, ${DURATION_HELP}`)
        .argParser(parseDuration('--overlap'))
        .default(DAY_S, '24h'),
    )
    .action(async (id: string, { overlap }: { overlap: number }) => {
      const rotated = await withWebhook(session, id, (webhooks) => webhooks.rotateSecret(id, overlap * 1000));
      const until = `Messages are signed with the old secret, too, until ${rotated.oldExpiresAt.toISOString()}.`;
      await session.print(
        rotated,
        () => `${secretText(rotated.secret)}\n${until}`,
        `Webhook ${id} has a new secret that was not shown. Rotate it again.`,
      );
    });
}

type PingResult = DeliveryResult & { milliseconds: number };

const pingJson = (result: PingResult): object =>
  'error' in result ? { error: result.error } : { status: result.status, milliseconds: result.milliseconds };

function pingText(result: PingResult): string {
  if ('error' in result) return `Delivery failed: ${readableError(result.error)}`;
  const verb = isAcknowledged(result) ? 'Acknowledged' : 'Rejected';
  return `${verb} with ${result.status} after ${result.milliseconds} ms`;
}

/** The text of a system error, or a code that is clear enough, such as `CERT_HAS_EXPIRED`. */
const readableError = (code: string): string =>
  [...getSystemErrorMap().values()].find(([name]) => name === code)?.[1] ?? code;

const webhooksTable = (webhooks: ListedWebhook[]): string =>
  formatTable(
    ['id', 'organization', 'url', 'state', 'last success', 'last response', 'failing since', 'next attempt', 'waiting'],
    webhooks.map((webhook) => [
      webhook.id,
      webhook.organizationId,
      webhook.url ?? `@OnChanges ${webhook.subscription}`,
      webhook.state,
      webhook.lastSuccessAt,
      webhook.lastStatus ?? webhook.lastError,
      webhook.failingSince,
      webhook.nextAttemptAt,
      webhook.waiting && waitingText(webhook.waiting),
    ]),
  );

function waitingText({ phase, changes, since }: WaitingChanges): string {
  if (phase === 'snapshot' || changes === null) return 'full snapshot';
  const count = changes < MAX_COUNTED_CHANGES ? String(changes) : `${MAX_COUNTED_CHANGES} or more`;
  return since ? `${count} since ${since.toISOString()}` : count;
}
