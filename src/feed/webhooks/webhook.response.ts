import { ApiSchema, getSchemaPath, PickType } from '@nestjs/swagger';
import { DateTime, Int32, OneOf } from '../../fields/fields';
import { ChangesV0Response } from '../changes/change.response';

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
