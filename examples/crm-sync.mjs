// Copies all leads into a CSV file, and with each later run those that are new since; all of them anew when an import has
// put older ones between. Whenever it is killed, the next run goes on where it was: FILE.place says how far the file is
// sure. Cells hold what leads hold, for a program: in a spreadsheet one that begins with = would be run as a formula
// (`operator export --csv leads` is for people).
//
//   LANYARD_KEY=lan_… npm run example:crm-sync -- leads.csv
import { appendFileSync, existsSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { argument, call } from './call.mjs';

const file = argument('crm-sync', 'FILE.csv');

const COLUMNS = {
  id: (lead) => lead.id,
  createdAt: (lead) => lead.createdAt,
  firstName: (lead) => lead.firstName,
  lastName: (lead) => lead.lastName,
  email: (lead) => lead.email,
  jobTitle: (lead) => lead.jobTitle,
  company: (lead) => lead.company.name,
  phone: ({ phoneNumbers: { leadProvided } }) =>
    (leadProvided.find((each) => each.preferred) ?? leadProvided[0])?.number,
  tags: (lead) => lead.tags.map((tag) => tag.value).join('; '),
};

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const line = (values) => `${values.map((value) => quoted(value ?? '')).join(',')}\r\n`;
const rows = (leads) => leads.map((lead) => line(Object.values(COLUMNS).map((column) => column(lead)))).join('');

/** Lists are in the order of creation, with the id as tie-break. */
const isAfter = (lead, other) => `${lead.createdAt} ${lead.id}` > `${other.createdAt} ${other.id}`;

/** `count` leads up to the `last` one stood in the list, and the file was `bytes` long. */
function readPlace() {
  const place = existsSync(`${file}.place`) ? JSON.parse(readFileSync(`${file}.place`, 'utf8')) : null;
  if (!place && existsSync(file)) throw new Error(`${file} is there, but not ${file}.place: is it something else?`);
  if (!place || !existsSync(file)) return { count: 0, last: null, bytes: 0 };
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

let { count, last, bytes } = readPlace();
if (bytes === 0) writePlace({ count, last, bytes });
let added = 0;
for (let place = count; ; place = count) {
  let page, leads, known;
  do {
    // The last lead that was copied is asked for once more: when it stands where it stood, nothing lies in between.
    page = pageAt(Math.max(0, place - 1));
    ({ leads } = (await call('GET', `/leads?limit=${page.limit}&offset=${page.offset}`)).results);
    known = leads.findLastIndex((lead) => last && !isAfter(lead, last));
    place = page.offset * page.limit; // Leads were deleted, and the others moved forward: so does the search for it.
  } while (known === -1 && place > 0);
  const moved = place + known + 1 - count;
  if (last && (moved > 0 || (moved === 0 && leads[known].id !== last.id))) {
    [count, last, bytes, added] = [0, null, 0, 0]; // It moved back: others have come before it.
    writePlace({ count, last, bytes });
    truncateSync(file, bytes);
    continue;
  }
  const found = leads.slice(known + 1);
  appendFileSync(file, bytes === 0 ? line(Object.keys(COLUMNS)) + rows(found) : rows(found));
  [count, last, bytes] = [place + leads.length, leads.at(-1) ?? last, statSync(file).size];
  writePlace({ count, last: last && { createdAt: last.createdAt, id: last.id }, bytes });
  added += found.length;
  if (leads.length < page.limit) break;
}
console.log(`${added} leads added to ${file}`);
