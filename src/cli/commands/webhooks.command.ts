import { Command } from 'commander';
import { isUuid } from '../../api-schema/text';
import { ChangesService } from '../../changes/changes.service';
import { areFollowed, FOLLOWED_NAMES } from '../../changes/followed';
import { readConfig } from '../../config';
import { Statements } from '../../database/statements';
import { isYes } from '../../webhooks/webhook-message';
import {
  type ListedWebhook,
  MAX_WEBHOOKS,
  TooManyWebhooks,
  urlFault,
  WebhooksService,
} from '../../webhooks/webhooks.service';
import { command, duration, DURATION_HELP, type GlobalOptions, organization, requireOrganization } from '../arguments';
import { withDatabase } from '../session';
import { table } from '../terminal/table';
import { answer, Refusal, UsageError } from '../terminal/terminal';

const EXAMPLE_ID = '0197f0a2-6c1e-7d55-9d0e-3b0f5a6c7d8e';
const DAY_S = 86_400;
const ROW =
  '{id, organizationId, url, resources, state, lastSuccessAt, lastStatus, lastFault, failingSince, createdAt}; url without its query';

const ID = [
  '<ID>',
  'id of the webhook (see webhooks list)',
  (value: string): string => {
    if (isUuid(value)) return value.toLowerCase();
    throw new UsageError('ID must be the uuid of a webhook (see webhooks list)');
  },
] as const;
const ORGANIZATION = ['--organization <ID>', 'organization whose changes are sent', organization] as const;
const SINCE = [
  '--since <MOMENT>',
  'now: without a first reading of all that is there',
  (value: string): 'now' => {
    if (value === 'now') return value;
    throw new UsageError('--since must be now');
  },
] as const;

function url(value: string): string {
  const fault = urlFault(value, readConfig().webhookHttp === 'on');
  if (fault) throw new UsageError(`--url ${fault}`);
  return new URL(value).href;
}

function resources(value: string): string[] {
  const names = value.split(',');
  if (areFollowed(names)) return names;
  throw new UsageError(`--resources must be of ${FOLLOWED_NAMES.join(',')}, each once`);
}

interface CreateOptions extends GlobalOptions {
  organization: number;
  url: string;
  resources?: string[];
  since?: 'now';
}

/** `webhooks …` */
export function webhooksCommand(program: Command): void {
  const group = command(program, 'webhooks', {
    about: 'Have the changes of an organization sent to a URL.',
    example: 'webhooks create --organization 1 \\\n    --url https://crm.example.com/lanyard',
  });
  command(group, 'create', {
    about: `Create a webhook, and show its secret this once. An organization has at most ${MAX_WEBHOOKS}.`,
    result: '{id, secret, organizationId, url, resources, state}',
    example:
      'webhooks create --organization 1 \\\n    --url https://crm.example.com/lanyard --resources leads,eventLeads',
  })
    .requiredOption(...ORGANIZATION)
    .requiredOption('--url <URL>', 'where to send: https://…', url)
    .option('--resources <NAMES>', `of ${FOLLOWED_NAMES.join(', ')}, separated by commas; default: all`, resources)
    .option(...SINCE)
    .action((_, self: Command) => create(self.optsWithGlobals()));
  command(group, 'list', { about: 'List webhooks, oldest first.', result: `[${ROW}]`, example: 'webhooks list' })
    .option(...ORGANIZATION)
    .action((_, self: Command) => list(self.optsWithGlobals()));
  command(group, 'test', {
    about: 'Send a ping to a webhook now, whatever its state is.',
    result: '{status, milliseconds} or {fault}',
    example: `webhooks test \\\n    ${EXAMPLE_ID}`,
  })
    .argument(...ID)
    .action((id: string, _, self: Command) => test(id, self.optsWithGlobals()));
  command(group, 'rotate-secret', {
    about: 'Give a webhook a new secret. The old one signs, too, until the overlap is over.',
    result: '{id, secret, oldExpiresAt}',
    example: `webhooks rotate-secret \\\n    ${EXAMPLE_ID} --overlap 24h`,
  })
    .argument(...ID)
    .option('--overlap <TIME>', DURATION_HELP, duration('--overlap'), DAY_S)
    .action((id: string, _, self: Command) => rotate(id, self.optsWithGlobals()));
  command(group, 'disable', {
    about: 'Send nothing more.',
    result: ROW,
    example: `webhooks disable \\\n    ${EXAMPLE_ID}`,
  })
    .argument(...ID)
    .action((id: string, _, self: Command) => changed(id, self.optsWithGlobals(), (webhooks) => webhooks.disable(id)));
  command(group, 'enable', {
    about: 'Go on where a failing or disabled webhook stood, at once.',
    result: ROW,
    example: `webhooks enable \\\n    ${EXAMPLE_ID}`,
  })
    .argument(...ID)
    .option(...SINCE)
    .action((id: string, { since }: { since?: 'now' }, self: Command) =>
      changed(id, self.optsWithGlobals(), (webhooks) => webhooks.enable(id, since)),
    );
  command(group, 'delete', {
    about: 'Delete a webhook.',
    result: '{id}',
    example: `webhooks delete \\\n    ${EXAMPLE_ID}`,
  })
    .argument(...ID)
    .action((id: string, _, self: Command) => remove(id, self.optsWithGlobals()));
}

/** @throws Refusal when there is no such webhook */
async function withWebhooks<T>(id: string, work: (webhooks: WebhooksService) => Promise<T | null>): Promise<T> {
  const result = await withDatabase((dataSource) => work(serviceOn(dataSource)));
  if (result === null) throw new Refusal(`webhook ${id} does not exist (see webhooks list)`);
  return result;
}

const serviceOn = (dataSource: Parameters<typeof Statements.on>[0]): WebhooksService =>
  new WebhooksService(dataSource.manager, new ChangesService(Statements.on(dataSource)));

async function create({ json, organization: id, ...asked }: CreateOptions): Promise<void> {
  const created = await withDatabase(async (dataSource) => {
    await requireOrganization(dataSource.manager, id);
    return serviceOn(dataSource)
      .create(id, asked.url, asked.resources, asked.since)
      .catch((error: unknown) => {
        if (!(error instanceof TooManyWebhooks)) throw error;
        throw new Refusal(`organization ${id} has ${MAX_WEBHOOKS} webhooks, and may have no more`);
      });
  });
  const shown = (): string => `Webhook ${created.id}\n${secretText(created.secret)}`;
  await answer(json, created, shown, `webhook ${created.id} was created; rotate-secret shows a new secret`);
}

const secretText = (secret: string): string => `Secret, shown only this once: ${secret}`;

async function list({ json, organization: id }: GlobalOptions & { organization?: number }): Promise<void> {
  const webhooks = await withDatabase(async (dataSource) => {
    if (id !== undefined) await requireOrganization(dataSource.manager, id);
    return serviceOn(dataSource).list(id);
  });
  await answer(json, webhooks, () => (webhooks.length > 0 ? webhooksTable(webhooks) : 'No webhooks.'));
}

async function test(id: string, { json }: GlobalOptions): Promise<void> {
  const outcome = await withWebhooks(id, (webhooks) => webhooks.test(id));
  const said = 'status' in outcome ? `${outcome.status}` : outcome.fault;
  const result =
    'status' in outcome ? { status: outcome.status, milliseconds: outcome.milliseconds } : { fault: outcome.fault };
  await answer(json, result, () => `${isYes(outcome) ? 'Taken' : 'Not taken'}: ${said}, ${outcome.milliseconds} ms`);
  if (!isYes(outcome)) throw new Refusal(`the receiver said no: ${said}`);
}

async function rotate(id: string, { json, overlap }: GlobalOptions & { overlap: number }): Promise<void> {
  const rotated = await withWebhooks(id, (webhooks) => webhooks.rotateSecret(id, overlap * 1000));
  const until = `The old one signs, too, until ${rotated.oldExpiresAt.toISOString()}.`;
  await answer(json, rotated, () => `${secretText(rotated.secret)}\n${until}`, `webhook ${id} has a new secret`);
}

async function changed(
  id: string,
  { json }: GlobalOptions,
  work: (webhooks: WebhooksService) => Promise<ListedWebhook | null>,
): Promise<void> {
  const webhook = await withWebhooks(id, work);
  await answer(json, webhook, () => `Webhook ${id} is ${webhook.state}.`);
}

async function remove(id: string, { json }: GlobalOptions): Promise<void> {
  const deleted = await withWebhooks(id, (webhooks) => webhooks.delete(id));
  await answer(json, deleted, () => `Deleted webhook ${id}.`);
}

const webhooksTable = (webhooks: ListedWebhook[]): string =>
  table(
    ['id', 'organization', 'url', 'state', 'last success', 'last answer'],
    webhooks.map(({ id, organizationId, url, state, lastSuccessAt, lastStatus, lastFault }) => [
      ...[id, organizationId, url, state, lastSuccessAt?.toISOString() ?? null, lastStatus ?? lastFault],
    ]),
  );
