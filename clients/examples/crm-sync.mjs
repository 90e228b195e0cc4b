// Writes what a CRM has changed: CONTACTS is an array of leads with their `remoteId`, as POST /leads/batch takes them, or of
// `{"remoteId": …, "deleted": true}`. Then makes FILE.csv a copy of all leads: rows are added, updated and removed. All pages
// are read each time, because a list does not say what has changed. The new copy takes the place of the old one when it is
// whole, so that whoever reads the file, or kills this, never has half of it. Cells hold what leads hold: in a spreadsheet
// one that begins with = would be run (`lanyard export` is for people).
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

/** Of the pages that begin at or before a place of the list, the one that reaches the furthest behind it. */
function pageAt(place) {
  const pages = Array.from({ length: 31 }, (_, n) => ({ limit: 50 - n, offset: Math.floor(place / (50 - n)) }));
  return pages.reduce((best, page) => (page.limit * (page.offset + 1) > best.limit * (best.offset + 1) ? page : best));
}

const rows = new Map();
for (let place = 0, isEnd = false; !isEnd;) {
  // The last lead that was read is asked for once more: if it is not there, leads before it were deleted, and it moved up.
  const { limit, offset } = pageAt(Math.max(0, place - 1));
  const { leads } = (await call('GET', `/leads?limit=${limit}&offset=${offset}`)).results;
  const known = leads.findLastIndex((lead) => rows.has(lead.id));
  place = offset * limit;
  if (known === -1 && place > 0) continue;
  for (const lead of leads.slice(known + 1)) rows.set(lead.id, rowOf(lead));
  place += leads.length;
  isEnd = leads.length < limit;
}

writeFileSync(`${file}.new`, HEADER + [...rows.values()].join(''), { flush: true });
renameSync(`${file}.new`, file);
const added = [...rows.keys()].filter((id) => !old.has(id)).length;
const updated = [...rows].filter(([id, row]) => old.has(id) && old.get(id) !== row).length;
const removed = [...old.keys()].filter((id) => !rows.has(id)).length;
console.log(`${added} leads added to ${file}, ${updated} updated, ${removed} removed`);
