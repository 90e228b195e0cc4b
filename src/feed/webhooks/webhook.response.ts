import { ApiSchema, getSchemaPath, PickType } from '@nestjs/swagger';
import { DateTime, Int32, MAX_LENGTH, nullable, OneOf, Text, TextList, Uuid } from '../../fields/fields';
import { ChangesV0Response } from '../changes/change.response';
import { READER_STATES, type ReaderState } from '../changes/feed-reader.entity';

/** Maximum number of resources of a webhook: there are fewer, also with those of extensions. */
export const MAX_RESOURCES = 100;

export const WEBHOOK_FIELD_DOCS = {
  resources: {
    description: 'Resources of the change feed to send. All of them by default.',
    example: ['leads', 'eventLeads'],
  },
};

@ApiSchema({ description: 'A webhook that an API key has registered.' })
export class WebhookV0Response {
  @Uuid({ description: 'ID of the webhook.' }) id: string;
  @Text({
    max: MAX_LENGTH.url,
    description: 'Where changes are sent, without the query, which may hold a secret.',
    example: 'https://flows.example.com/webhook/lanyard',
  })
  url: string;
  @TextList({ ...WEBHOOK_FIELD_DOCS.resources, max: MAX_RESOURCES }) resources: string[];
  @OneOf(READER_STATES, 'WebhookState', {
    description:
      '`failing`: the last attempt failed, and another one follows. `paused`: the database was restored or copied; its ' +
      'operator resumes it. `disabled`: the receiver has responded with 410, or five days of attempts have failed.',
  })
  state: ReaderState;
  @DateTime({ ...nullable, description: 'Date and time of the last 2xx response.' }) lastSuccessAt: string | null;
  @Int32({ ...nullable, description: 'HTTP status of the last response.', example: 200 }) lastStatus: number | null;
  @Text({ ...nullable, description: 'Why the last attempt got no response, such as `ECONNREFUSED`.' })
  lastError: string | null;
  @DateTime({ ...nullable, description: 'Date and time since which all attempts have failed.' })
  failingSince: string | null;
  @DateTime({ description: 'Date and time of registration.' }) createdAt: string;
}

@ApiSchema({ description: 'A webhook that was just registered, with its secret.' })
export class RegisteredWebhookV0Response extends WebhookV0Response {
  @Text({
    ...nullable,
    description:
      'The secret that signs the messages, by Standard Webhooks 1.0.0. It is shown only this once. In a response that is ' +
      'replayed for an `Idempotency-Key` it is null: then delete the webhook and register another one.',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
  })
  secret: string | null;
}

const TIMESTAMP = { description: 'Date and time of this attempt.' };
const ORGANIZATION = { min: 1, description: 'The organization whose changes these are.' };

@ApiSchema({ description: 'A page of the change feed, sent to a webhook.' })
export class WebhookChanges extends PickType(ChangesV0Response, ['phase', 'changes', 'hasMore']) {
  @OneOf(['changes'], 'WebhookChangesType', { description: 'Type of the message.' }) type: 'changes';
  @DateTime(TIMESTAMP) timestamp: string;
  @Int32(ORGANIZATION) organizationId: number;
}

@ApiSchema({ description: 'What `webhooks test` sends.' })
export class WebhookPing {
  @OneOf(['ping'], 'WebhookPingType', { description: 'Type of the message.' }) type: 'ping';
  @DateTime(TIMESTAMP) timestamp: string;
  @Int32(ORGANIZATION) organizationId: number;
}

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', maxLength: 255 },
});

/** The requests that the server sends to the URLs of webhooks, as OpenAPI 3.1 describes them. */
export const WEBHOOKS = {
  changes: {
    post: {
      tags: ['Changes'],
      operationId: 'receiveChanges',
      summary: 'Receive changes',
      description:
        'Sent to the webhooks of an organization, signed according to Standard Webhooks 1.0.0, and repeated until the ' +
        'receiver responds with 2xx. Pages arrive at least once, in order, one at a time.',
      security: [],
      parameters: [
        header(
          'webhook-id',
          'ID of the message. It is the same for the same changes, so you can skip IDs that you have processed.',
        ),
        header('webhook-timestamp', 'Unix time of this attempt, in seconds.'),
        header(
          'webhook-signature',
          '`v1,` and the HMAC-SHA256 of ID, timestamp and body; two of them while a secret is rotated.',
        ),
      ],
      requestBody: {
        required: true,
        description: 'At most 100 changes or 256 KiB. A larger change is sent on its own.',
        content: {
          'application/json': {
            schema: { oneOf: [WebhookChanges, WebhookPing].map((message) => ({ $ref: getSchemaPath(message) })) },
            example: {} as unknown,
          },
        },
      },
      responses: {
        '2XX': { description: 'The receiver acknowledges the page. The next page follows.' },
        '410': { description: 'The receiver wants no more pages. The webhook is disabled.' },
        default: { description: 'The delivery failed. The page is sent again later.' },
      },
    },
  },
};
