import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { Json, Page } from '../database/reads';
import { INDUSTRY_EVENT } from './industry-event.response';

/** The function chooses and orders the page's records (docs/decisions/0008); the page size is part of the text. */
const statement = (limit: number): string => `
  with found as materialized (select * from search_industry_events($1, ${limit}, $2)),
    page as (select e.* from found, unnest(found.ids) with ordinality as f(id, position)
      join industry_events e on e.id = f.id order by f.position)
  select (select coalesce(string_agg(row_to_json(r)::text, ','), '') from (${INDUSTRY_EVENT}) r), total from found`;

/** A page of the industry events that match `q`, and the number of all that do. */
export async function searchIndustryEvents(
  dataSource: DataSource,
  q: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<Page> {
  const { rows } = await (dataSource.driver as unknown as { master: Pool }).master.query<[Json, string]>({
    name: `industryEvents.search:${limit}`,
    text: statement(limit),
    values: [q, offset],
    rowMode: 'array',
  });
  const [items, total] = rows[0] as [Json, string];
  return { limit, offset, items, total: Number(total) };
}
