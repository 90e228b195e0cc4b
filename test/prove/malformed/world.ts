import { eventInput, type createExhibitor, industryEventInput, leadInput } from '../../support/builders';
import { ask } from '../support/ask';

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

interface Results {
  id?: string | number;
  industryEvent?: { id: string };
}

type Send = (method: string, path: string, body?: object) => Promise<Results>;

/**
 * @param port of a server on this machine
 * @param keys of a full bucket, of another organization, of a bucket of one token, and one that was revoked
 * @param imported ids of what only an import makes, by kind
 */
export async function makeWorld(
  port: number,
  { other, ...keys }: World['keys'] & { other: string },
  imported: ReturnType<typeof createExhibitor>['ids'],
): Promise<World> {
  const ids = await fill(sender(port, keys.valid));
  const { eventId = [], leadId = [] } = await fill(sender(port, other));
  await sender(port, keys.empty)('GET', '/leads');
  const { note, activation, tagGroup } = imported;
  const more = { leadActivityEventId: [note], activationId: [activation], tagGroupId: [tagGroup] };
  return { ids: { ...ids, ...more }, foreign: { eventId, leadId }, keys };
}

/** Makes a few records of each resource, which a request could change. */
async function fill(send: Send): Promise<Record<string, string[]>> {
  const [eventId, leadId, industryEventId]: [string[], string[], string[]] = [[], [], []];
  for (let count = 0; count < 5; count++) {
    eventId.push(String((await send('POST', '/events', eventInput())).id));
    leadId.push(String((await send('POST', '/leads', leadInput())).id));
    industryEventId.push(String((await send('POST', '/industryEvents', industryEventInput())).industryEvent?.id));
  }
  await send('PUT', `/events/${eventId[0]}/leads`, { eventLeads: leadId.map((id) => ({ leadId: id })) });
  for (const id of industryEventId.slice(0, 2)) await send('POST', `/industryEvents/${id}/bookmark`);
  return { eventId, leadId, industryEventId };
}

/** A function that sends sound requests, and fails on an answer that is not a success. */
const sender =
  (port: number, key: string): Send =>
  async (method, path, body) => {
    const answer = await ask(port, { method, path: `/api/v0${path}`, key, body });
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status ?? answer.error}`);
    return answer.body?.results as Results;
  };
