import { getSystemErrorMap } from 'node:util';
import { Command, Option } from 'commander';
import { isUuid } from '../../fields/text';
import { type Config, readConfig } from '../../config';
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
  parseDuration,
  DURATION_HELP,
  type GlobalOptions,
  organizationOption,
  parseOrganizationId,
  findOrganization,
} from '../arguments';
import type { FeedResources } from '../../changes/feed-resource';
import type { Session } from '../session';
import { formatTable } from '../terminal/table';
import { printResult, CommandError, UsageError } from '../terminal/terminal';

const EXAMPLE_ID = '0197f0a2-6c1e-7d55-9d0e-3b0f5a6c7d8e';
const DAY_S = 86_400;
const WEBHOOK_JSON =
  '{id, organizationId, url, subscription, resources, state, lastSuccessAt, lastStatus, lastError, failingSince, nextAttemptAt, ' +
  'waiting: {phase, changes, since} or null, createdAt}, where url has no query (it is null for a method with @OnChanges, which subscription names) and waiting changes are counted up to 100';

function parseWebhookId(value: string): string {
  if (isUuid(value)) return value.toLowerCase();
  throw new UsageError('ID must be the ID of a webhook, which is a UUID (run "webhooks list" for the IDs)');
}

function parseSince(value: string): 'now' {
  if (value === 'now') return value;
  throw new UsageError('--since must be "now"');
}

const lookupOf = ({ webhookPrivate }: Config): ReceiverLookup =>
  new ReceiverLookup({ allowPrivate: webhookPrivate === 'on' });

function parseUrl(value: string): string {
  const config = readConfig();
  const error = urlError(value, config.webhookHttp === 'on', lookupOf(config));
  if (error) throw new UsageError(`--url ${error}`);
  return new URL(value).href;
}

const resourcesParser =
  (resources: FeedResources) =>
  (value: string): string[] => {
    const names = value.split(',');
    if (resources.hasNames(names)) return names;
    throw new UsageError(
      `--resources must be a comma-separated list of ${resources.names.join(', ')}, without duplicates`,
    );
  };

const RESUME_NOTES = `
Webhooks are paused in a database that was restored or copied, because they
would send to the receivers of the original. Resume them if this database
replaces the original. In a copy for tests, delete them.`;

interface CreateOptions extends GlobalOptions {
  organization?: number;
  url: string;
  resources?: string[];
  since?: 'now';
}

/** The command `webhooks …`. */
export function webhooksCommand(program: Command, session: Session): void {
  const group = addCommand(program, 'webhooks', {
    summary: 'Send the changes of an organization to a URL.',
    example: 'webhooks create --organization 1 \\\n    --url https://crm.example.com/lanyard',
  });
  createAndListCommands(group, session);
  stateCommands(group, session);
  addIdCommand(
    group,
    'test',
    { summary: 'Send a ping to a webhook now, whatever its state.', jsonResult: '{status, milliseconds} or {error}' },
    (id, options) => test(session, id, options),
  );
  addIdCommand<GlobalOptions & { overlap: number }>(
    group,
    'rotate-secret',
    {
      summary: 'Give a webhook a new secret. Until the overlap ends, messages are signed with both.',
      jsonResult: '{id, secret, oldExpiresAt}',
    },
    (id, options) => rotate(session, id, options),
  ).addOption(
    new Option('--overlap <TIME>', `how long both secrets sign, ${DURATION_HELP}`)
      .argParser(parseDuration('--overlap'))
      .default(DAY_S, '24h'),
  );
  addIdCommand(group, 'delete', { summary: 'Delete a webhook.', jsonResult: '{id}' }, async (id, { json }) => {
    const deleted = await withWebhooks(session, id, (webhooks) => webhooks.delete(id));
    await printResult(json, deleted, () => `Deleted webhook ${id}.`);
  });
}

/** Adds a command whose argument is the ID of a webhook. */
function addIdCommand<Options extends GlobalOptions>(
  group: Command,
  name: string,
  description: Omit<CommandDescription, 'example'>,
  run: (id: string, options: Options) => Promise<void>,
): Command {
  return addCommand(group, name, { ...description, example: `webhooks ${name} \\\n    ${EXAMPLE_ID}` })
    .argument('<ID>', 'ID of the webhook (see "webhooks list")', parseWebhookId)
    .action((id: string, _, self: Command) => run(id, self.optsWithGlobals()));
}

function createAndListCommands(group: Command, session: Session): void {
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
      `comma-separated list of ${session.feedResources.names.join(', ')} (default: all)`,
      resourcesParser(session.feedResources),
    )
    .option('--since <MOMENT>', '"now": skip the initial snapshot', parseSince)
    .action((_, self: Command) => create(session, self.optsWithGlobals()));
  addCommand(group, 'list', {
    summary: 'List webhooks, oldest first.',
    jsonResult: `[${WEBHOOK_JSON}]`,
    example: 'webhooks list',
  })
    .option('--organization <ID>', 'list only the webhooks of this organization', parseOrganizationId('--organization'))
    .action((_, self: Command) => list(session, self.optsWithGlobals()));
}

/** Commands that change whether and from where a webhook sends. */
function stateCommands(group: Command, session: Session): void {
  const addStateCommand = (
    name: string,
    description: Pick<CommandDescription, 'summary' | 'notes'>,
    change: (webhooks: WebhooksService, id: string, since?: 'now') => Promise<ListedWebhook | null>,
  ): Command =>
    addIdCommand<GlobalOptions & { since?: 'now' }>(
      group,
      name,
      { ...description, jsonResult: WEBHOOK_JSON },
      async (id, { json, since }) => {
        const webhook = await withWebhooks(session, id, (webhooks) => change(webhooks, id, since));
        await printResult(json, webhook, () => stateText(webhook));
      },
    );
  addStateCommand(
    'disable',
    {
      summary: 'Stop sending.',
      notes: 'The webhook keeps its position, from which "webhooks enable" resumes.',
    },
    (webhooks, id) => webhooks.disable(id),
  );
  addStateCommand('enable', { summary: 'Resume immediately from where the webhook stopped.' }, (webhooks, id, since) =>
    webhooks.enable(id, since),
  ).option('--since <MOMENT>', '"now": skip the changes that were missed', parseSince);
  addCommand(group, 'resume', {
    summary: 'Resume a paused webhook, or all of them, with a snapshot of all records.',
    jsonResult: `[${WEBHOOK_JSON}], also with an ID`,
    example: `webhooks resume \\\n    ${EXAMPLE_ID}`,
  })
    .argument('[ID]', 'ID of the webhook (default: all paused webhooks)', parseWebhookId)
    .addHelpText('after', RESUME_NOTES)
    .action((id: string | undefined, _, self: Command) => resume(session, id, self.optsWithGlobals()));
}

const stateText = ({ id, state }: ListedWebhook): string => `Webhook ${id} is ${state}.`;

/** @throws CommandError if the webhook does not exist */
async function withWebhooks<T>(
  session: Session,
  id: string,
  work: (webhooks: WebhooksService) => Promise<T | null>,
): Promise<T> {
  const result = await session.withServices((services) => work(services.get(WebhooksService)));
  if (result === null) throw new CommandError(`Webhook ${id} does not exist. Run "webhooks list" for the IDs.`);
  return result;
}

async function create(session: Session, { json, organization: givenId, ...options }: CreateOptions): Promise<void> {
  const created = await session.withServices(async (services) => {
    const { id } = await findOrganization(services, givenId);
    return services
      .get(WebhooksService)
      .create(id, options.url, options.resources, options.since)
      .catch((error: unknown) => {
        if (!(error instanceof TooManyWebhooks)) throw error;
        throw new CommandError(`Organization ${id} already has the maximum of ${MAX_WEBHOOKS} webhooks.`);
      });
  });
  const shown = (): string => `Webhook ${created.id}\n${secretText(created.secret)}`;
  await printResult(
    json,
    created,
    shown,
    `Webhook ${created.id} was created, but its secret was not shown. Run "webhooks rotate-secret".`,
  );
}

const secretText = (secret: string): string => `Secret, shown only this once: ${secret}`;

async function list(
  session: Session,
  { json, organization: id }: GlobalOptions & { organization?: number },
): Promise<void> {
  const webhooks = await session.withServices(async (services) => {
    if (id !== undefined) await findOrganization(services, id);
    return services.get(WebhooksService).list(id);
  });
  await printResult(json, webhooks, () => (webhooks.length > 0 ? webhooksTable(webhooks) : 'There are no webhooks.'));
}

async function test(session: Session, id: string, { json }: GlobalOptions): Promise<void> {
  const result = await withWebhooks(session, id, (webhooks) => webhooks.test(id));
  const isSuccess = isAcknowledged(result);
  const message = pingText(result);
  // Without --json, the message of a failure is printed only once, as the error.
  if (json || isSuccess) await printResult(json, pingJson(result), () => message);
  if (!isSuccess) throw new CommandError(message);
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

async function rotate(
  session: Session,
  id: string,
  { json, overlap }: GlobalOptions & { overlap: number },
): Promise<void> {
  const rotated = await withWebhooks(session, id, (webhooks) => webhooks.rotateSecret(id, overlap * 1000));
  const until = `Messages are signed with the old secret, too, until ${rotated.oldExpiresAt.toISOString()}.`;
  await printResult(
    json,
    rotated,
    () => `${secretText(rotated.secret)}\n${until}`,
    `Webhook ${id} has a new secret that was not shown. Rotate it again.`,
  );
}

/** @param id of a webhook; if undefined, all paused webhooks are resumed */
async function resume(session: Session, id: string | undefined, { json }: GlobalOptions): Promise<void> {
  const resumed =
    id === undefined
      ? await session.withServices((services) => services.get(WebhooksService).resumeAll())
      : [await withWebhooks(session, id, (webhooks) => webhooks.resume(id))];
  await printResult(json, resumed, () => resumed.map(stateText).join('\n') || 'No webhook is paused.');
}

const TABLE_HEADERS = [
  'id',
  'organization',
  'url',
  'state',
  'last success',
  'last response',
  'failing since',
  'next attempt',
  'waiting',
];

const webhooksTable = (webhooks: ListedWebhook[]): string =>
  formatTable(
    TABLE_HEADERS,
    webhooks.map((webhook) => [
      webhook.id,
      webhook.organizationId,
      webhook.url ?? `@OnChanges ${webhook.subscription}`,
      webhook.state,
      webhook.lastSuccessAt?.toISOString() ?? null,
      webhook.lastStatus ?? webhook.lastError,
      webhook.failingSince?.toISOString() ?? null,
      webhook.nextAttemptAt?.toISOString() ?? null,
      webhook.waiting && waitingText(webhook.waiting),
    ]),
  );

function waitingText({ phase, changes, since }: WaitingChanges): string {
  if (phase === 'snapshot' || changes === null) return 'full snapshot';
  const count = changes < MAX_COUNTED_CHANGES ? String(changes) : `${MAX_COUNTED_CHANGES} or more`;
  return since ? `${count} since ${since.toISOString()}` : count;
}
