import type { ReceiverLookup } from './receiver-lookup';

const MAX_URL = 2048;
const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Why a URL cannot be a webhook's, if it cannot. @param allowHttp whether `http` may leave this machine */
export function urlError(text: string, allowHttp: boolean, receivers: ReceiverLookup): string | undefined {
  if (!URL.canParse(text) || text.length > MAX_URL) return 'must be a URL of at most 2,048 characters';
  const { protocol, username, password, hostname } = new URL(text);
  if (username || password) return 'must have no user and password: receivers check the signature';
  const isAllowedProtocol = protocol === 'https:' || (protocol === 'http:' && (allowHttp || LOCAL.test(hostname)));
  if (!isAllowedProtocol) {
    return 'must begin with https:// (http:// to this machine only, or with LANYARD_WEBHOOK_HTTP=on)';
  }
  if (!receivers.isAllowedHost(hostname)) {
    return 'must not lead to a link-local, multicast or metadata address, nor to a private one with LANYARD_WEBHOOK_PRIVATE=off';
  }
  return undefined;
}
