import { Injectable } from '@nestjs/common';
import { Config } from '../../config';
import { ReceiverLookup } from './receiver-lookup';

/**
 * Where the webhooks of API keys may lead: to public addresses by https. LANYARD_API_WEBHOOK_PRIVATE=on adds private addresses,
 * and http to those.
 */
@Injectable()
export class KeyReceivers {
  private readonly https: ReceiverLookup;
  private readonly http: ReceiverLookup;

  constructor({ apiWebhookPrivate }: Config) {
    const allowPrivate = apiWebhookPrivate === 'on';
    this.https = new ReceiverLookup({ allowPrivate });
    this.http = new ReceiverLookup({ allowPrivate, allowPublic: false });
  }

  /** What the host of a URL is looked up with. */
  lookupOf({ protocol }: URL): ReceiverLookup {
    return protocol === 'https:' ? this.https : this.http;
  }

  /** Whether the host has an address that any webhook of a key may be sent to. */
  allowsHost({ hostname }: URL): Promise<boolean> {
    return this.https.allowsHost(hostname);
  }

  /** Whether a webhook may be sent to the host by the protocol of the URL. */
  async allowsProtocol(url: URL): Promise<boolean> {
    return url.protocol === 'https:' || (url.protocol === 'http:' && (await this.http.allowsHost(url.hostname)));
  }
}
