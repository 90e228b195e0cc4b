import type { EventRecord, TagGroupRecord } from './dataset';
import { checked, identified, Placed, refuseForeign, resolve, Scope } from './import.checks';
import { lastOfEach, replaceLinksStatement, Row, upsertStatement, write } from './upsert';

const TAG_GROUPS = upsertStatement({
  name: 'tag_groups',
  key: 'id',
  columns: {
    name: 'text',
    status: 'text',
    allows_multiple_selection: 'boolean',
    display_order: 'integer',
    usage_instructions: 'text',
    required: 'boolean',
    all_events: 'boolean',
  },
});

/** Options that a group has no more are removed, from leads too. */
const REMOVE_TAG_OPTIONS = `
  delete from tag_options where organization_id = $1 and tag_group_id = any($2::uuid[]) and id <> all($3::uuid[])`;

const TAG_OPTIONS = `
  insert into tag_options (id, organization_id, tag_group_id, display_order, value)
  select id, $1, tag_group_id, display_order, value
  from json_to_recordset($2::json) as r(id uuid, tag_group_id uuid, display_order integer, value text)
  order by id
  on conflict (organization_id, id) do update
    set tag_group_id = excluded.tag_group_id, display_order = excluded.display_order, value = excluded.value
    where (tag_options.tag_group_id, tag_options.display_order, tag_options.value)
      is distinct from (excluded.tag_group_id, excluded.display_order, excluded.value)`;

export async function writeTagGroups(scope: Scope, batch: Placed<TagGroupRecord>[]): Promise<void> {
  const { manager, organizationId } = scope;
  const groups = lastOfEach(batch, ({ record }) => record.id);
  const options = groups.flatMap(({ place, record }, position) =>
    record.tagOptions.map((option, index) => ({
      place: `${place}.tagOptions[${index}].id`,
      position,
      group: record.id,
      ...option,
    })),
  );
  await checked(
    () => refuseForeign(scope, 'tag_groups', groups.map(identified)),
    () => refuseForeign(scope, 'tag_options', options),
  );
  const rows = groups.map(({ record }) => ({
    id: record.id,
    created_at: record.createdAt,
    name: record.name,
    status: record.status,
    allows_multiple_selection: record.allowsMultipleSelection,
    display_order: record.displayOrder,
    usage_instructions: record.usageInstructions,
    required: record.required,
    all_events: record.allEvents,
  }));
  await write(scope, TAG_GROUPS, rows);
  const optionIds = options.map(({ id }) => id);
  await manager.query(REMOVE_TAG_OPTIONS, [organizationId, rows.map(({ id }) => id), optionIds]);
  const optionRows = lastOfEach(options, ({ id }) => id).map(({ id, group, displayOrder, value }) => ({
    id,
    tag_group_id: group,
    display_order: displayOrder,
    value,
  }));
  await write(scope, TAG_OPTIONS, optionRows);
}

const EVENTS = upsertStatement({
  name: 'events',
  key: 'ref',
  columns: {
    created_by: 'text',
    name: 'text',
    type: 'text',
    registration_enabled: 'boolean',
    start_date: 'date',
    end_date: 'date',
    location: 'jsonb',
  },
  inOrder: true,
});

const EVENT_TAG_GROUPS = replaceLinksStatement({
  name: 'event_tag_groups',
  owner: ['event_id', 'bigint'],
  target: ['tag_group_id', 'uuid'],
  columns: { position: 'integer' },
});

const EVENT_USERS = replaceLinksStatement({
  name: 'event_users',
  owner: ['event_id', 'bigint'],
  target: ['user_id', 'bigint'],
  columns: {},
});

export async function writeEvents(scope: Scope, batch: Placed<EventRecord>[]): Promise<void> {
  const events = lastOfEach(batch, ({ record }) => record.ref);
  const { user: users } = await resolve(scope, events, {
    'tag group': ({ tagGroups }) => tagGroups.map((id, i) => [`tagGroups[${i}]`, id]),
    user: (event) => event.users.map((email, i) => [`users[${i}]`, email]),
  });
  const rows = events.map(({ record }, position) => ({
    position,
    ref: record.ref,
    created_at: record.createdAt,
    created_by: record.createdBy,
    name: record.name,
    type: record.type,
    registration_enabled: record.registrationEnabled,
    start_date: record.startDate,
    end_date: record.endDate,
    location: locationOf(record.location),
  }));
  await write(scope, EVENTS, rows);
  const ids = await scope.references.find(
    'event',
    rows.map(({ ref }) => ref),
  );
  const owners = rows.map(({ ref }) => ids.get(ref));
  for (const { ref } of rows) scope.events[ref] = Number(ids.get(ref));
  const tagGroups = events.flatMap(({ record }) =>
    [...new Set(record.tagGroups)].map((id, position) => ({
      event_id: ids.get(record.ref),
      tag_group_id: id,
      position,
    })),
  );
  await write(scope, EVENT_TAG_GROUPS, tagGroups, owners);
  const assigned = events.flatMap(({ record }) =>
    [...new Set(record.users)].map((email) => ({ event_id: ids.get(record.ref), user_id: users.get(email) })),
  );
  await write(scope, EVENT_USERS, assigned, owners);
}

/** A location is stored with all its parts, in the order of the specification. */
export function locationOf(location: EventRecord['location']): Row | null {
  if (!location) return null;
  const { streetAddress, city, state, zip, country, latitude, longitude, timeZone } = location;
  const parts = { streetAddress, city, state, zip, country, latitude, longitude, timeZone };
  return Object.fromEntries(Object.entries(parts).map(([part, text]) => [part, text ?? null]));
}
