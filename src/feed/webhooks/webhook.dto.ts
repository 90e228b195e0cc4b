import { ApiSchema } from '@nestjs/swagger';
import { MAX_LENGTH, OneOf, optional, Text, TextList } from '../../fields/fields';
import { MAX_RESOURCES, WEBHOOK_FIELD_DOCS } from './webhook.response';

@ApiSchema({ description: 'A webhook to register.' })
export class WebhookCreateV0Input {
  @Text({
    max: MAX_LENGTH.url,
    description:
      'Where to send changes: an `https` URL of a public address, without user and password. The server looks its host up ' +
      'when it is registered and at every delivery.',
    example: 'https://flows.example.com/webhook/lanyard?token=1',
  })
  url: string;

  @TextList({ ...optional, ...WEBHOOK_FIELD_DOCS.resources, max: MAX_RESOURCES }) resources?: string[];

  @OneOf(['now'], 'WebhookSince', { ...optional, description: 'Skips the snapshot of what is there already.' })
  since?: 'now';
}
