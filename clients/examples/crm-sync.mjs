// Writes what a CRM has changed: CONTACTS is an array of leads with their `remoteId`, as POST /leads/batch takes them, or of
// `{"remoteId": …, "deleted": true}`. Then makes FILE.csv a copy of all leads: rows are added, updated and removed. The first
// run reads all leads, later ones what has changed. FILE.csv.state has the rows and the cursor that stands behind them: they
// are stored at once, so that this may be killed at any time. FILE.csv is made of it, and takes the place of the old one when
// it is whole. Cells hold what leads hold: a spreadsheet would run one that begins with = (`lanyard export` is for people).
//
//   LANYARD_KEY=lan_… node clients/examples/crm-sync.mjs leads.csv contacts.json
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { argument, call, fail, findLead, parsed, upsertLeads } from './call.mjs';

const file = argument('crm-sync', 'FILE.csv [CONTACTS.json]');

const COLUMNS = {
  id: (lead) => lead.id,
  createdAt: (lead) => lead.createdAt,
  firstName: (lead) => lead.firstName,
  lastName: (lead) => lead.lastName,
  email: (lead) => lead.email,
  jobTitle: (lead) => lead.jobTitle,
  company: (lead) => lead.company.name,
  phone: ({ phoneNumbers: { leadProvided: all } }) => (all.find((each) => each.preferred) ?? all[0])?.number,
  tags: (lead) => lead.tags.map((tag) => tag.value).join('; '),
};

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const line = (values) => `${values.map((value) => quoted(value ?? '')).join(',')}\r\n`;
const rowOf = (lead) => line(Object.values(COLUMNS).map((column) => column(lead)));
const HEADER = line(Object.keys(COLUMNS));

/** A row of the file, whose first cell is the id. */
const ROW = /([^,"\r\n]*)(?:,(?:"(?:[^"]|"")*"|[^",\r\n]*))*\r\n/gy;

const before = (existsSync(file) && readFileSync(file, 'utf8')) || HEADER;
if (!before.startsWith(HEADER))
  fail(`${file} is no copy of leads with these columns: move it away, or name another file`);
const old = new Map([...before.slice(HEADER.length).matchAll(ROW)].map(([row, id]) => [id, row]));

const contacts = process.argv[3] ? parsed(readFileSync(process.argv[3], 'utf8')) : [];
if (!Array.isArray(contacts)) fail(`${process.argv[3]} must be a JSON array of contacts`);
const written = contacts.filter(({ deleted }) => !deleted).map((lead) => ({ ...lead, deleted: undefined }));
await upsertLeads(written, 'remoteId');
for (const { id, integrationType } of contacts.filter(({ deleted }) => deleted).map(({ remoteId }) => remoteId)) {
  const lead = await findLead({ remoteId: id, integrationType });
  // One that is gone already was deleted by a request whose answer was lost.
  if (lead) await call('DELETE', `/leads/${lead.id}`).catch((error) => error.status === 404 || Promise.reject(error));
}

/** A file that is whole, or as it was before. */
function replace(name, content) {
  writeFileSync(`${name}.new`, content, { flush: true });
  renameSync(`${name}.new`, name);
}

const state = `${file}.state`;
const kept = existsSync(state) ? parsed(readFileSync(state, 'utf8')) : undefined;
const known = kept?.header === HEADER ? kept : {};
let [cursor, rows] = [known.cursor, new Map(known.rows)];

for (let hasMore = true; hasMore;) {
  const query = new URLSearchParams({ resources: 'leads', limit: 500, ...(cursor && { cursor }) });
  try {
    const { results } = await call('GET', `/changes?${query}`);
    for (const { id, record } of results.changes) {
      if (record) rows.set(id, rowOf(record));
      else rows.delete(id);
    }
    ({ cursor, hasMore } = results);
  } catch (error) {
    if (error.status !== 410 || !cursor) throw error;
    // Too long ago, or of another database: what a new reading does not bring is gone.
    [cursor, rows] = [undefined, new Map()];
  }
  replace(state, JSON.stringify({ header: HEADER, cursor, rows: [...rows] }));
}
replace(file, HEADER + [...rows.values()].join(''));
const added = [...rows.keys()].filter((id) => !old.has(id)).length;
const updated = [...rows].filter(([id, row]) => old.has(id) && old.get(id) !== row).length;
const removed = [...old.keys()].filter((id) => !rows.has(id)).length;
console.log(`${added} leads added to ${file}, ${updated} updated, ${removed} removed`);
