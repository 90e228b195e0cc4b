import { eventInput, type createExhibitor, industryEventInput, leadInput } from '../../support/builders';
import { ApiClient } from '../../support/client';

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
  const clientOf = (key: string): ApiClient => new ApiClient(`http://127.0.0.1:${port}/api/v0`, key);
  const ids = await fill(clientOf(keys.valid));
  const { eventId = [], leadId = [] } = await fill(clientOf(other));
  await clientOf(keys.empty).get('/leads').expect(200);
  const { note, activation, tagGroup } = imported;
  const more = { leadActivityEventId: [note], activationId: [activation], tagGroupId: [tagGroup] };
  return { ids: { ...ids, ...more }, foreign: { eventId, leadId }, keys };
}

/** Makes a few records of each resource, which a request could change. */
async function fill(api: ApiClient): Promise<Record<string, string[]>> {
  const make = async (path: string, body: object) => (await api.post(path, body).expect(200)).body.results;
  const [eventId, leadId, industryEventId]: [string[], string[], string[]] = [[], [], []];
  for (let count = 0; count < 5; count++) {
    eventId.push(String((await make('/events', eventInput())).id));
    leadId.push(String((await make('/leads', leadInput())).id));
    industryEventId.push(String((await make('/industryEvents', industryEventInput())).industryEvent.id));
  }
  const eventLeads = leadId.map((id) => ({ leadId: id }));
  await api.put(`/events/${eventId[0]}/leads`, { eventLeads }).expect(200);
  for (const id of industryEventId.slice(0, 2)) await api.post(`/industryEvents/${id}/bookmark`).expect(200);
  return { eventId, leadId, industryEventId };
}
