/** What each command does, in the order of the help, which lists them without loading them. */
export const SUMMARIES = {
  start: 'Start the server. This is the default without a command.',
  organizations: 'Create, list, rename and delete organizations.',
  keys: 'Issue, list, check, limit, rotate and revoke the API keys of an organization.',
  'industry-events': 'Delete industry events from the catalog that all organizations share.',
  import: 'Import a dataset or a CSV file into an organization.',
  imports: 'Show the imports of an organization, and take one of them back.',
  export: 'Export all data of an organization, and the industry-event catalog.',
  changes: 'Show the change feed of an organization, as clients see it.',
  seed: 'Fill an organization with made-up data.',
  sandbox: 'Start a server for tests, with a demo organization and a key without limits, that leaves nothing behind.',
  webhooks: 'Send the changes of an organization to a URL.',
  persons: "Find and erase a person's data.",
  audit: 'Show who created, updated and deleted which record, oldest first.',
  backup: 'Write the whole database to a file. The server can keep running.',
  restore: 'Restore a backup into an empty database, with organizations, API keys, webhooks and all other data.',
  status:
    'Show the state of the database, Redis, migrations, keys, leads and webhooks, and the busiest keys of the last hour.',
  check:
    'Compare derived data (lead documents, list counts and positions, search texts) with its source, and find ' +
    'functions and triggers that were dropped or disabled.',
  config: 'Show the settings in force, without passwords. It connects to nothing.',
  openapi: 'Print the OpenAPI document of this server, as /openapi.json has it. Connects to nothing.',
  migrate: 'Apply pending migrations now, before a server does so when it starts.',
} as const;

export type CommandName = keyof typeof SUMMARIES;
