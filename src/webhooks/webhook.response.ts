import { ApiSchema, getSchemaPath, PickType } from '@nestjs/swagger';
import { DateTime, Int32, OneOf } from '../api/fields';
import { ChangesV0Response } from '../changes/change.response';

const TIMESTAMP = { description: 'Date and time of this try.' };
const ORGANIZATION = { min: 1, description: 'The organization whose changes these are.' };

@ApiSchema({ description: 'A page of the feed of changes, sent to a webhook.' })
export class WebhookChanges extends PickType(ChangesV0Response, ['phase', 'changes', 'hasMore']) {
  @OneOf(['changes'], 'WebhookChangesType', { description: 'What is sent.' }) type: 'changes';
  @DateTime(TIMESTAMP) timestamp: string;
  @Int32(ORGANIZATION) organizationId: number;
}

@ApiSchema({ description: 'What `webhooks test` sends.' })
export class WebhookPing {
  @OneOf(['ping'], 'WebhookPingType', { description: 'What is sent.' }) type: 'ping';
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

/** What the server sends to the URLs that its operator has given, as OpenAPI 3.1 says it. */
export const WEBHOOKS = {
  changes: {
    post: {
      tags: ['Changes'],
      operationId: 'receiveChanges',
      summary: 'Receive changes',
      description:
        'Sent to the webhooks of an organization, signed as Standard Webhooks 1.0.0 has it, until the receiver answers 2xx. ' +
        'At least once, in order, a page at a time.',
      security: [],
      parameters: [
        header('webhook-id', 'Stands for phase and changes: an id that is known brings nothing new.'),
        header('webhook-timestamp', 'Seconds since 1970 of this try.'),
        header('webhook-signature', '`v1,` and the HMAC-SHA256 of id, timestamp and body; two while a secret rotates.'),
      ],
      requestBody: {
        required: true,
        description: 'At most 100 changes and 256 KiB of them; one that is larger goes alone.',
        content: {
          'application/json': {
            schema: { oneOf: [WebhookChanges, WebhookPing].map((message) => ({ $ref: getSchemaPath(message) })) },
            example: {} as unknown,
          },
        },
      },
      responses: {
        '2XX': { description: 'The receiver has it. The next page follows.' },
        '410': { description: 'The receiver wants no more: the webhook is disabled.' },
        default: { description: 'The page is sent again later.' },
      },
    },
  },
};
