-- The SQL that src/schema composes, as PostgreSQL gets it. npm run sql writes this file.

-- Triggers on its tables, in the order in which they fire

CREATE TRIGGER t70_pause_webhooks AFTER UPDATE OF database_identity ON public.changes_key FOR EACH STATEMENT EXECUTE
  FUNCTION pause_webhooks();
