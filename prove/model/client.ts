import { ask } from '../support/ask';
import { type Answer, type Call, ENDPOINTS } from './endpoints';

/** @throws Error when there is no answer */
export async function send(port: number, { endpoint, keys, ids, query, payload }: Call): Promise<Answer> {
  const rest = [...ids];
  const path = ENDPOINTS[endpoint].path.replaceAll(/:/g, () => encodeURIComponent(rest.shift() ?? ''));
  const search = query.length > 0 ? `?${new URLSearchParams(query).toString()}` : '';
  const headers = {
    ...(keys.length > 0 ? { 'x-api-key': keys } : {}),
    ...(payload && 'otherType' in payload ? { 'content-type': 'text/plain' } : {}),
  };
  const sent = Date.now();
  const { method } = ENDPOINTS[endpoint];
  const answer = await ask(port, { method, path: `/api/v0${path}${search}`, headers, body: textOf(payload) });
  const { status, error, body } = answer;
  if (status === undefined) throw new Error(`${method} ${path}: ${error}`);
  return { status, headers: answer.headers, body, sent, received: Date.now() };
}

function textOf(payload: Call['payload']): string | undefined {
  if (!payload) return undefined;
  return 'text' in payload ? payload.text : JSON.stringify('json' in payload ? payload.json : payload.otherType);
}

/** A request and its answer, for people. */
export const describe = (call: Call, { status, body }: Answer): string =>
  `${call.endpoint} ${JSON.stringify({ ...call, endpoint: undefined })}\nanswered ${status} ${JSON.stringify(body)}`;
