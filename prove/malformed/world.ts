/** What is there before the first request: whose ids and keys the requests name. */
export interface World {
  /** ids of records by the name of the path parameter */
  ids: Record<string, string[]>;
  /** ids of another organization's records */
  foreign: Record<string, string[]>;
  keys: {
    valid: string;
    /** of a bucket that is empty */
    empty: string;
    revoked: string;
  };
}

/** The parts of the API that fill the world, over HTTP. */
type Send = (method: string, path: string, body?: object) => Promise<Results>;
interface Results {
  id?: string | number;
  industryEvent?: { id: string };
}

/** Records that a request could change: of each resource a few, beside what an import made. */
export async function fillWorld(send: Send, makers: Makers): Promise<Record<string, string[]>> {
  const ids: Record<string, string[]> = { eventId: [], leadId: [], industryEventId: [] };
  for (let count = 0; count < 5; count++) {
    ids.eventId?.push(String((await send('POST', '/events', makers.event())).id));
    ids.leadId?.push(String((await send('POST', '/leads', makers.lead())).id));
    const { industryEvent } = await send('POST', '/industryEvents', makers.industryEvent());
    ids.industryEventId?.push(industryEvent?.id ?? '');
  }
  await send('PUT', `/events/${ids.eventId?.[0]}/leads`, { eventLeads: ids.leadId?.map((leadId) => ({ leadId })) });
  for (const id of ids.industryEventId?.slice(0, 2) ?? []) await send('POST', `/industryEvents/${id}/bookmark`);
  return ids;
}

interface Makers {
  event(): object;
  lead(): object;
  industryEvent(): object;
}

/** A function that sends sound requests, and fails on an answer that is not a success. */
export const sender =
  (baseUrl: string, key: string): Send =>
  async (method, path, body) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const answer = await fetch(`${baseUrl}${path}`, { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
    return (JSON.parse(text) as { results: Results }).results;
  };
