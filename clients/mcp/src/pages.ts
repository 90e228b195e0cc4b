/** Records of a page. */
export const PAGE_SIZE = 10;

export interface PageInput {
  /** The number of a page, from 1; the first page is 0 and has no cursor. */
  cursor?: string;
}

interface Page {
  limit: number;
  offset: number;
}

/** The query for a page of a list. */
export const pageQuery = ({ cursor = '0' }: PageInput): Page => ({ limit: PAGE_SIZE, offset: Number(cursor) });

/** What a page shows: `Leads 11 to 20 of 214.` */
export function pageSummary(noun: string, { offset }: Page, count: number, total: number): string {
  if (total === 0) return `No ${noun}.`;
  const first = offset * PAGE_SIZE + 1;
  if (count === 0) return `No ${noun} on this page, of ${total} in all.`;
  return `${noun[0]?.toUpperCase()}${noun.slice(1)} ${first} to ${first + count - 1} of ${total}.`;
}

/** How to get the next page; undefined on the last one. */
export function nextPage(tool: string, { offset }: Page, total: number): string | undefined {
  if ((offset + 1) * PAGE_SIZE >= total) return undefined;
  return `For the next page, call ${tool} with the same arguments and cursor "${offset + 1}".`;
}
