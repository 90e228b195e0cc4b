import { type Command, Option } from 'commander';
import { readConfig } from '../../config';
import { ReceiverLookup } from '../../feed/webhooks/receiver-lookup';
import { isAcknowledged } from '../../feed/changes/delivery-result';
import { urlError } from '../../feed/webhooks/webhook-url';
import { MAX_WEBHOOKS, WebhooksService } from '../../feed/webhooks/webhooks.service';
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
import { SUMMARIES } from '../summaries';
import { CommandError, UsageError } from '../terminal/terminal';

const DAY_S = 86_400;

const parseWebhookId = parseUuid('ID', 'a webhook');

type Since = 'now';
const parseSince = parseChoice<Since>('--since', ['now']);

function parseUrl(value: string): string {
  const { webhookHttp, webhookPrivate } = readConfig();
  const lookup = new ReceiverLookup({ allowPrivate: webhookPrivate === 'on' });
  const error = urlError(value, webhookHttp === 'on', lookup);
  if (error) throw new UsageError(`--url ${error}`);
  return new URL(value).href;
}

const SHOWN_ONCE = 'The secret is shown only this once.';

/** The command `webhooks …`. */
export function webhooksCommand(program: Command, session: Session): void {
  const group = addCommand(program, 'webhooks', {
    summary: SUMMARIES.webhooks,
    example: 'webhooks create --organization 1 \\\n    --url https://crm.example.com/lanyard',
  });
  addCreateCommand(group, session);
  addCommand(group, 'list', {
    summary: 'List webhooks, oldest first.',
    example: 'webhooks list',
  })
    .option('--organization <ID>', 'list only the webhooks of this organization', parseOrganizationId('--organization'))
    .action(({ organization }: { organization?: number }) =>
      session.run(async (services) => {
        if (organization !== undefined) await findOrganization(services, organization);
        return services.get(WebhooksService).list(organization);
      }),
    );
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
    .action(({ organization, url, resources, since }: CreateOptions) =>
      session.run(async (services) => {
        const { id } = await findOrganization(services, organization);
        return services.get(WebhooksService).create(id, url, resources, since);
      }, SHOWN_ONCE),
    );
}

/** Adds a command whose argument is the ID of a webhook. */
const addCommandOfOne = (group: Command, name: string, description: Omit<CommandDescription, 'example'>): Command =>
  addCommand(group, name, { ...description, example: `webhooks ${name} ID` }).argument(
    '<ID>',
    'ID of the webhook (see "webhooks list")',
    parseWebhookId,
  );

/**
 * Runs work on a webhook, and prints its result.
 * @throws CommandError if the webhook does not exist
 */
const runOnWebhook = (
  session: Session,
  id: string,
  work: (webhooks: WebhooksService) => Promise<object | null>,
  hint?: string,
): Promise<void> =>
  session.run(async (services) => requireFound('Webhook', id, await work(services.get(WebhooksService))), hint);

/** Commands that change whether and from where a webhook sends. */
function addStateCommands(group: Command, session: Session): void {
  addCommandOfOne(group, 'disable', {
    summary: 'Stop sending.',
    notes: 'The webhook keeps its position, from which "webhooks enable" resumes.',
  }).action((id: string) => runOnWebhook(session, id, (webhooks) => webhooks.disable(id)));
  addCommandOfOne(group, 'enable', {
    summary: 'Resume immediately from where the webhook stopped.',
  })
    .option('--since <MOMENT>', '"now": skip the changes that were missed', parseSince)
    .action((id: string, { since }: { since?: Since }) =>
      runOnWebhook(session, id, (webhooks) => webhooks.enable(id, since)),
    );
  addCommand(group, 'resume', {
    summary: 'Resume a paused webhook, or all of them, with a snapshot of all records.',
    notes:
      'Webhooks are paused in a database that was restored or copied, because they would send to the receivers of the ' +
      'original. Resume them if this database replaces the original. In a copy for tests, delete them.',
    example: 'webhooks resume ID',
  })
    .argument('[ID]', 'ID of the webhook (default: all paused webhooks)', parseWebhookId)
    .action((id?: string) =>
      session.run(async (services) => {
        const webhooks = services.get(WebhooksService);
        if (id === undefined) return webhooks.resumeAll();
        return [requireFound('Webhook', id, await webhooks.resume(id))];
      }),
    );
  addCommandOfOne(group, 'delete', { summary: 'Delete a webhook.' }).action((id: string) =>
    runOnWebhook(session, id, (webhooks) => webhooks.delete(id)),
  );
}

function addSecretCommands(group: Command, session: Session): void {
  addCommandOfOne(group, 'test', {
    summary: 'Send a ping to a webhook now, whatever its state.',
  }).action(async (id: string) => {
    const result = await session.withServices(async (services) =>
      requireFound('Webhook', id, await services.get(WebhooksService).test(id)),
    );
    const { milliseconds } = result;
    await session.print('error' in result ? { error: result.error } : { status: result.status, milliseconds });
    if (!isAcknowledged(result)) throw new CommandError('The receiver did not acknowledge the ping.');
  });
  addCommandOfOne(group, 'rotate-secret', {
    summary: 'Give a webhook a new secret. Until the overlap ends, messages are signed with both.',
  })
    .addOption(
      new Option('--overlap <TIME>', `how long both secrets sign, ${DURATION_HELP}`)
        .argParser(parseDuration('--overlap'))
        .default(DAY_S, '24h'),
    )
    .action((id: string, { overlap }: { overlap: number }) =>
      runOnWebhook(session, id, (webhooks) => webhooks.rotateSecret(id, overlap * 1000), SHOWN_ONCE),
    );
}
