/** The endpoints, and of what kind the ids in their paths are. */
export type IdKind = 'event' | 'lead' | 'activity' | 'activation' | 'tagGroup' | 'industryEvent';

interface Endpoint {
  method: string;
  path: string;
  ids: IdKind[];
}

const endpoint = (method: string, path: string, ...ids: IdKind[]): Endpoint => ({ method, path, ids });

export const ENDPOINTS = {
  listEvents: endpoint('GET', '/events'),
  getEvent: endpoint('GET', '/events/:', 'event'),
  createEvent: endpoint('POST', '/events'),
  replaceEvent: endpoint('PUT', '/events/:', 'event'),
  deleteEvent: endpoint('DELETE', '/events/:', 'event'),
  listEventLeads: endpoint('GET', '/events/:/leads', 'event'),
  associateLeads: endpoint('PUT', '/events/:/leads', 'event'),
  dissociateLead: endpoint('DELETE', '/events/:/leads/:', 'event', 'lead'),
  listEventUsers: endpoint('GET', '/events/:/users', 'event'),
  listLeads: endpoint('GET', '/leads'),
  getLead: endpoint('GET', '/leads/:', 'lead'),
  createLead: endpoint('POST', '/leads'),
  batchLeads: endpoint('POST', '/leads/batch'),
  patchLead: endpoint('PATCH', '/leads/:', 'lead'),
  deleteLead: endpoint('DELETE', '/leads/:', 'lead'),
  listActivities: endpoint('GET', '/leadActivityEvents'),
  getActivity: endpoint('GET', '/leadActivityEvents/:', 'activity'),
  listActivations: endpoint('GET', '/activations'),
  getActivation: endpoint('GET', '/activations/:', 'activation'),
  listTagGroups: endpoint('GET', '/tagGroups'),
  getTagGroup: endpoint('GET', '/tagGroups/:', 'tagGroup'),
  listIndustryEvents: endpoint('GET', '/industryEvents'),
  listBookmarks: endpoint('GET', '/industryEvents/bookmarks'),
  getIndustryEvent: endpoint('GET', '/industryEvents/:', 'industryEvent'),
  createIndustryEvent: endpoint('POST', '/industryEvents'),
  updateIndustryEvent: endpoint('PUT', '/industryEvents/:', 'industryEvent'),
  addBookmark: endpoint('POST', '/industryEvents/:/bookmark', 'industryEvent'),
  removeBookmark: endpoint('DELETE', '/industryEvents/:/bookmark', 'industryEvent'),
} as const;

export type EndpointName = keyof typeof ENDPOINTS;

/** What is sent as a body: JSON, or something that is none. */
export type Payload = { json: unknown } | { text: string } | { otherType: unknown };

/** A request as it is sent. */
export interface Call {
  endpoint: EndpointName;
  /** the values of the x-api-key header */
  keys: string[];
  ids: string[];
  query: [name: string, value: string][];
  payload?: Payload;
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
  /** unix milliseconds at which the request was sent, and at which the answer had come */
  sent: number;
  received: number;
}
