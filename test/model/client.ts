import { Agent } from 'node:http';
import { ask } from '../prove/support/ask';
import { type Answer, type Call, ENDPOINTS } from './endpoints';

/** Fewer connections than a server has for its database: what is read at once is not to be a flood. */
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

/** @throws Error when there is no answer */
export async function send(port: number, { endpoint, keys, ids, query, payload }: Call): Promise<Answer> {
  const { method, path } = ENDPOINTS[endpoint];
  const rest = [...ids];
  const target = `/api/v0${path.replaceAll(/:\w+/g, () => encodeURIComponent(rest.shift() ?? ''))}`;
  const search = query.length > 0 ? `?${new URLSearchParams(query).toString()}` : '';
  const headers = {
    ...(keys.length > 0 ? { 'x-api-key': keys } : {}),
    ...(payload && 'otherType' in payload ? { 'content-type': 'text/plain' } : {}),
  };
  const sent = Date.now();
  const answer = await ask(port, { method, path: target + search, headers, body: textOf(payload), agent });
  if (answer.status === undefined) throw new Error(`${method} ${path}: ${answer.error}`);
  return { status: answer.status, headers: answer.headers, body: answer.body, sent, received: Date.now() };
}

function textOf(payload: Call['payload']): string | undefined {
  if (!payload) return undefined;
  return 'text' in payload ? payload.text : JSON.stringify('json' in payload ? payload.json : payload.otherType);
}

/** A request and its answer, for people. */
export const describe = (call: Call, { status, body }: Answer): string =>
  `${call.endpoint} ${JSON.stringify({ ...call, endpoint: undefined })}\nanswered ${status} ${JSON.stringify(body)}`;
