import { ReceiverLookup } from '../../src/feed/webhooks/receiver-lookup';
import { urlError } from '../../src/feed/webhooks/webhook-url';

describe('the URL of a webhook', () => {
  it.each([
    ['https://crm.example.com/hook?key=1', false, undefined],
    ['http://localhost:8080/', false, undefined],
    ['http://127.1.2.3/', false, undefined],
    ['http://[::1]:80/', false, undefined],
    ['http://crm.example.com/', true, undefined],
    ['http://crm.example.com/', false, 'https'],
    ['http://localhost.example.com/', false, 'https'],
    ['https://ada:secret@crm.example.com/', true, 'no user and password'],
    ['ftp://crm.example.com/', true, 'https'],
    ['crm.example.com', true, 'must be a URL'],
    ['https://169.254.169.254/', true, 'link-local'],
  ])('%s (http allowed: %j)', (url, allowHttp, error) => {
    const found = urlError(url, allowHttp, new ReceiverLookup({ allowPrivate: true }));
    if (error === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(error);
  });

  it('leads to no private address where those are forbidden', () => {
    const receivers = new ReceiverLookup({ allowPrivate: false });
    expect(urlError('https://10.0.0.1/', false, receivers)).toContain('LANYARD_WEBHOOK_PRIVATE');
    expect(urlError('https://crm.example.com/', false, receivers)).toBeUndefined();
  });
});
