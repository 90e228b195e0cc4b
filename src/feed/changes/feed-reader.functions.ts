/**
 * A database that takes over the change log of another one is a copy, and its webhooks lead to the receivers of the original.
 * All readers are paused in the same transaction, disabled ones too: enabling one must not send to that receiver either.
 */
export const READER_FUNCTIONS = `
create or replace function pause_webhooks() returns trigger language plpgsql as $$
begin
  update feed_readers set paused_at = now() where paused_at is null;
  return null;
end $$;
create trigger t70_pause_webhooks after update of database_identity on changes_key
  for each statement execute function pause_webhooks();
`;
