// The importer that bench:import measures from: a thousand leads a statement, in one transaction. It checks nothing.
import { createInterface } from 'node:readline';
import pg from 'pg';

const COLUMNS = {
  id: 'uuid',
  createdAt: 'timestamptz',
  ...Object.fromEntries(
    `createdBy firstName lastName email description linkedin facebook twitter jobTitle address lastScannedBy personalEmails
    professionalEmails companyName companyIndustry companyLinkedin companyStreetAddress companyCity companyState companyZip
    companyCountry`
      .split(/\s+/)
      .map((name) => [name, 'text']),
  ),
  isEnriched: 'boolean',
  numberOfScans: 'integer',
  leadProvidedPhoneNumbers: 'jsonb',
  serviceProvidedPhoneNumbers: 'jsonb',
  remoteIds: 'jsonb',
};
const fields = Object.entries(COLUMNS).map(([name, type]) => `"${name}" ${type}`);
const columns = Object.keys(COLUMNS).map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
const LEADS = `with r as materialized (select * from rows from (json_to_recordset($2) as (${fields}))
      with ordinality as r (${columns}, nth)),
    taken as materialized (select list_take($1, 'leads', count(*)) as start from r)
  insert into leads (organization_id, position, ${columns}) select $1, start + nth - 1, ${columns} from r, taken`;
const TAGS = `insert into lead_tags (organization_id, lead_id, tag_option_id, position)
  select $1, r.* from json_to_recordset($2) as r ("leadId" uuid, "tagOptionId" uuid, position integer)`;

const rowOf = ({ company, phoneNumbers, ...lead }) => {
  for (const name in company) lead[`company${name[0].toUpperCase()}${name.slice(1)}`] = company[name];
  return {
    ...lead,
    leadProvidedPhoneNumbers: phoneNumbers.leadProvided,
    serviceProvidedPhoneNumbers: phoneNumbers.serviceProvided,
  };
};
const tagsOf = ({ id: leadId, tags }) => tags.map(({ tagOptionId }, position) => ({ leadId, tagOptionId, position }));

const [organization] = process.argv.slice(2);
const client = new pg.Client(process.env.DATABASE_URL);
await client.connect();
const write = async (leads) => {
  await client.query(LEADS, [organization, JSON.stringify(leads.map(rowOf))]);
  await client.query(TAGS, [organization, JSON.stringify(leads.flatMap(tagsOf))]);
};
await client.query('begin');
const batch = [];
for await (const line of createInterface({ input: process.stdin })) {
  batch.push(JSON.parse(line).record);
  if (batch.length === 1000) await write(batch.splice(0));
}
await write(batch);
await client.query('commit');
await client.end();
