// Writes what a CRM has changed: CONTACTS is an array of leads with their `remoteId`, as POST /leads/batch takes them, or of
// `{"remoteId": …, "deleted": true}`. Then copies all leads into a CSV file, and with each later run those that are new: they
// stand at the end of the list. Whenever it is killed, the next run goes on where it was: FILE.place says how far the file is
// complete. Cells hold what leads hold: in a spreadsheet one that begins with = would be run (`operator export` is for people).
//   LANYARD_KEY=lan_… node examples/crm-sync.mjs leads.csv contacts.json
import { appendFileSync, existsSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { argument, call, findLead, upsertLeads } from './call.mjs';

const file = argument('crm-sync', 'FILE.csv [CONTACTS.json]');
const contacts = process.argv[3] ? JSON.parse(readFileSync(process.argv[3], 'utf8')) : [];
const written = contacts.filter(({ deleted }) => !deleted);
await upsertLeads(written, 'remoteId');
for (const { id, integrationType } of contacts.filter(({ deleted }) => deleted).map(({ remoteId }) => remoteId)) {
  const lead = await findLead({ remoteId: id, integrationType });
  if (lead) await call('DELETE', `/leads/${lead.id}`);
}

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
const rows = (leads) => leads.map((lead) => line(Object.values(COLUMNS).map((column) => column(lead)))).join('');

/** A row of the file, whose first cell is the id. */
const ROW = /([^,"\r\n]*)(?:,(?:"(?:[^"]|"")*"|[^",\r\n]*))*\r\n/gy;

/** `count` leads stood in the list when the file was `bytes` long. */
function readPlace() {
  const place = existsSync(`${file}.place`) ? JSON.parse(readFileSync(`${file}.place`, 'utf8')) : null;
  if (!place && existsSync(file)) throw new Error(`${file} is there, but not ${file}.place: is it something else?`);
  if (!place || !existsSync(file)) return { count: 0, bytes: 0 };
  truncateSync(file, place.bytes);
  return place;
}

/** All of it or nothing, as a rename is. */
function writePlace(place) {
  writeFileSync(`${file}.place.new`, JSON.stringify(place));
  renameSync(`${file}.place.new`, `${file}.place`);
}

/** Of the pages that begin at or before a place of the list, the one that reaches the furthest behind it. */
function pageAt(place) {
  const pages = Array.from({ length: 31 }, (_, n) => ({ limit: 50 - n, offset: Math.floor(place / (50 - n)) }));
  return pages.reduce((best, page) => (page.limit * (page.offset + 1) > best.limit * (best.offset + 1) ? page : best));
}

let { count, bytes } = readPlace();
if (bytes === 0) writePlace({ count, bytes });
const copied = new Set(bytes === 0 ? [] : [...readFileSync(file, 'utf8').matchAll(ROW)].map(([, id]) => id));
let added = 0;
for (let place = count; ; place = count) {
  let page, leads, known;
  do {
    // The last lead that was copied is asked for once more. When leads were deleted, it moved forward.
    page = pageAt(Math.max(0, place - 1));
    ({ leads } = (await call('GET', `/leads?limit=${page.limit}&offset=${page.offset}`)).results);
    known = leads.findLastIndex((lead) => copied.has(lead.id));
    place = page.offset * page.limit;
  } while (known === -1 && place > 0);
  const found = leads.slice(known + 1);
  appendFileSync(file, bytes === 0 ? line(Object.keys(COLUMNS)) + rows(found) : rows(found));
  for (const { id } of found) copied.add(id);
  [count, bytes] = [place + leads.length, statSync(file).size];
  writePlace({ count, bytes });
  added += found.length;
  if (leads.length < page.limit) break;
}
console.log(`${added} leads added to ${file}`);
