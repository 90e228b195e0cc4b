import type { EventRecord, TagGroupRecord } from './dataset';
import { checked, identified, latest, Placed, refuseForeign, resolve, Scope } from './import.checks';
import { lastOfEach, recordset, replaceLinksStatement, Row, upsertStatement, write } from './upsert';

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

/** Options that groups have, but not in the dataset. */
const OTHER_TAG_OPTIONS = `
  select id from tag_options where organization_id = $1 and tag_group_id = any($2::uuid[]) and id <> all($3::uuid[])`;

const TAG_OPTIONS = `
  insert into tag_options (id, organization_id, tag_group_id, display_order, value)
  select id, $1, tag_group_id, display_order, value
  from ${recordset({ id: 'uuid', tag_group_id: 'uuid', display_order: 'integer', value: 'text' })}
  order by id
  on conflict (organization_id, id) do update
    set tag_group_id = excluded.tag_group_id, display_order = excluded.display_order, value = excluded.value
    where (tag_options.tag_group_id, tag_options.display_order, tag_options.value)
      is distinct from (excluded.tag_group_id, excluded.display_order, excluded.value)`;

export async function writeTagGroups(scope: Scope, batch: Placed<TagGroupRecord>[]): Promise<void> {
  const { manager, organizationId, references } = scope;
  const groups = latest(batch, ({ id }) => id);
  await checked(
    () => refuseForeign(scope, 'tag_groups', groups.map(identified)),
    () => refuseForeign(scope, 'tag_options', batch.flatMap(optionsOf)),
  );
  const rows = groups.map(({ record }) => record);
  await write(scope, TAG_GROUPS, rows);
  const options = lastOfEach(groups.flatMap(optionsOf), ({ id }) => id);
  await write(scope, TAG_OPTIONS, options);
  const listed = options.map(({ id }) => id);
  const others = await manager.query<{ id: string }[]>(OTHER_TAG_OPTIONS, [
    organizationId,
    rows.map(({ id }) => id),
    listed,
  ]);
  references.remove(others.map(({ id }) => id));
  references.restore(listed);
}

const optionsOf = ({ place, position, record }: Placed<TagGroupRecord>) =>
  record.tagOptions.map((option, index) => ({
    ...option,
    place: `${place}.tagOptions[${index}].id`,
    position,
    tagGroupId: record.id,
  }));

/** The end of the dataset: no group behind it takes over an option that its own has no more. Leads lose it too. */
export async function removeTagOptions({ manager, organizationId, references }: Scope): Promise<void> {
  await manager.query('delete from tag_options where organization_id = $1 and id = any($2::uuid[])', [
    organizationId,
    [...references.removed],
  ]);
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
  owner: 'event_id',
  target: 'tag_group_id',
  columns: { event_id: 'bigint', tag_group_id: 'uuid', position: 'integer' },
});

const EVENT_USERS = replaceLinksStatement({
  name: 'event_users',
  owner: 'event_id',
  target: 'user_id',
  columns: { event_id: 'bigint', user_id: 'bigint' },
});

export async function writeEvents(scope: Scope, batch: Placed<EventRecord>[]): Promise<void> {
  const events = latest(batch, ({ ref }) => ref);
  const { user: users } = await resolve(scope, batch, {
    'tag group': ({ tagGroups }) => tagGroups.map((id, i) => [`tagGroups[${i}]`, id]),
    user: (event) => event.users.map((email, i) => [`users[${i}]`, email]),
  });
  const rows = events.map(({ record }) => ({ ...record, location: locationOf(record.location) }));
  await write(scope, EVENTS, rows);
  const ids = await scope.references.find(
    'event',
    rows.map(({ ref }) => ref),
  );
  const owners = rows.map(({ ref }) => ids.get(ref));
  for (const { ref } of rows) scope.events[ref] = Number(ids.get(ref));
  const tagGroups = events.flatMap(({ record }) =>
    [...new Set(record.tagGroups)].map((tagGroupId, position) => ({
      eventId: ids.get(record.ref),
      tagGroupId,
      position,
    })),
  );
  await write(scope, EVENT_TAG_GROUPS, tagGroups, owners);
  const assigned = events.flatMap(({ record }) =>
    [...new Set(record.users)].map((email) => ({ eventId: ids.get(record.ref), userId: users.get(email) })),
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
