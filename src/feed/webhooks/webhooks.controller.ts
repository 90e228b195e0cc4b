import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { PageQuery } from '../../fields/page-query';
import { UuidParam } from '../../fields/parameters';
import { type Caller, CurrentCaller } from '../../http/pipeline/caller';
import { Returns, ReturnsNothing, ReturnsPage } from '../../http/pipeline/returns';
import { Scopes } from '../../http/pipeline/scopes';
import { ShownOnce } from '../../http/pipeline/shown-once';
import { Tag } from '../../http/pipeline/tag';
import { KeyWebhooksService } from './key-webhooks.service';
import { WebhookCreateV0Input } from './webhook.dto';
import { RegisteredWebhookV0Response, WebhookV0Response } from './webhook.response';

@Tag('Webhooks', 'The change feed, sent to a URL: webhooks that the API key has registered.')
@Controller('webhooks')
export class WebhooksController {
  constructor(private readonly webhooks: KeyWebhooksService) {}

  @Get()
  @ApiOperation({
    summary: 'List webhooks',
    description: 'The webhooks that belong to the API key. Paginated, oldest first. Those of other keys are not shown.',
  })
  @ReturnsPage('webhooks', WebhookV0Response)
  listWebhooks(@CurrentCaller() caller: Caller, @Query() page: PageQuery) {
    return this.webhooks.list(caller, page);
  }

  @Get(':webhookId')
  @ApiOperation({ summary: 'Get a webhook', description: 'A webhook of the API key, and how its last attempt ended.' })
  @Returns(WebhookV0Response, 'The webhook, without its secret.')
  getWebhook(@CurrentCaller() caller: Caller, @UuidParam('webhookId') webhookId: string) {
    return this.webhooks.get(caller, webhookId);
  }

  @Post()
  @ApiOperation({
    summary: 'Register a webhook',
    description:
      'Sends the changes of the organization to a URL, beginning with a snapshot unless `since` skips it. The webhook lives ' +
      'as long as the API key: it is deleted when the key is revoked or expires, and passed on when the key is rotated. ' +
      'The `secret`, which signs the messages, is shown only in this response; a response that is replayed for an ' +
      '`Idempotency-Key` has null in its place. An organization may have 5 webhooks of API keys; one more is 409.',
  })
  @Returns(RegisteredWebhookV0Response, 'The webhook, with its secret.')
  @ShownOnce('secret')
  @Scopes('read')
  createWebhook(@CurrentCaller() caller: Caller, @Body() body: WebhookCreateV0Input) {
    return this.webhooks.create(caller, body);
  }

  @Delete(':webhookId')
  @ApiOperation({
    summary: 'Delete a webhook',
    description: 'Nothing more is sent. A delivery that is under way ends.',
  })
  @ReturnsNothing('The webhook is deleted.')
  @Scopes('read')
  deleteWebhook(@CurrentCaller() caller: Caller, @UuidParam('webhookId') webhookId: string) {
    return this.webhooks.delete(caller, webhookId);
  }
}
