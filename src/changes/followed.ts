import { ActivationEntity } from '../activations/activation.entity';
import { ACTIVATION } from '../activations/activation.response';
import { type TrackedList, listOf } from '../database/tracked-list';
import { EventEntity, EventLeadEntity } from '../events/event.entity';
import { EVENT, EVENT_LEAD } from '../events/event.response';
import { LeadActivityEventEntity } from '../lead-activity-events/lead-activity-event.entity';
import { LEAD_ACTIVITY_EVENT } from '../lead-activity-events/lead-activity-event.response';
import { LeadEntity } from '../leads/lead.entity';
import { LEAD } from '../leads/lead.response';
import { TagGroupEntity } from '../tag-groups/tag-group.entity';
import { TAG_GROUP } from '../tag-groups/tag-group.response';

/** A resource whose changes the feed tells. */
export interface Followed extends TrackedList {
  name: string;
  /** by which the log knows it; it never changes */
  number: number;
  /** SQL of the JSON text of its record, from a row by its table's name */
  item: string;
  /** the columns of its key: a number that is, or belongs to, an event, and a uuid */
  key: { eventId?: string; id?: string };
  /** SQL of what a row shows, where that is cheaper than to render its record; `row` is old or new */
  shown?: (row: string) => string;
  /** rows of other tables that its record shows, and their column of its id */
  parts?: { table: string; column: string };
  /** SQL of the remote ids of a row */
  remoteIds?: string;
}

const uuid = { id: 'id' };
const follow = (entity: new () => object, resource: Omit<Followed, keyof TrackedList>): Followed => ({
  ...listOf(entity),
  ...resource,
});

/** In the order of the first reading, in which what is referred to comes first. */
export const FOLLOWED: readonly Followed[] = [
  follow(TagGroupEntity, {
    ...{ name: 'tagGroups', number: 1, item: TAG_GROUP, key: uuid },
    parts: { table: 'tag_options', column: 'tag_group_id' },
  }),
  follow(EventEntity, {
    ...{ name: 'events', number: 2, item: EVENT, key: { eventId: 'id' } },
    parts: { table: 'event_tag_groups', column: 'event_id' },
  }),
  follow(ActivationEntity, { name: 'activations', number: 3, item: ACTIVATION, key: uuid }),
  follow(LeadEntity, {
    ...{ name: 'leads', number: 4, item: LEAD, key: uuid, remoteIds: 'remote_ids' },
    shown: (row) => `${row}.document`,
  }),
  follow(EventLeadEntity, {
    ...{ name: 'eventLeads', number: 5, item: EVENT_LEAD, key: { eventId: 'event_id', id: 'lead_id' } },
    shown: (row) => `(${row}.registered, ${row}.checked_in)`,
  }),
  follow(LeadActivityEventEntity, {
    ...{ name: 'leadActivityEvents', number: 6, item: LEAD_ACTIVITY_EVENT, key: uuid },
  }),
];

/** The names of the resources, in that order. */
export const FOLLOWED_NAMES = FOLLOWED.map(({ name }) => name);

/** Whether names are those of such resources, each once. */
export const areFollowed = (names: string[]): boolean =>
  names.every((name) => FOLLOWED_NAMES.includes(name)) && new Set(names).size === names.length;
