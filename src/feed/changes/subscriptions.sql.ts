/** Stores the names `$1` of the `@OnChanges` of a server that starts, and has it call failing methods at once. */
export const REGISTER_SUBSCRIPTIONS = `
  with added as (insert into subscriptions (name) select unnest($1::text[]) on conflict (name) do nothing)
  update feed_readers set next_attempt_at = now() where subscription = any($1) and failing_since is not null`;

/** Rows that subscriptions `$1` lack, or have for other resources than `$2` says; a part of them, when there are very many. */
export const MISSING_ROWS = `
  select s.name, o.id as "organizationId", o.created_at < s.created_at as "isOlder", w.id
  from subscriptions s cross join organizations o
    left join feed_readers w on w.organization_id = o.id and w.subscription = s.name
  where s.name = any($1) and (w.id is null or to_jsonb(w.resources) <> $2::jsonb -> s.name)
  limit 200`;
