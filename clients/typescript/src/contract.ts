/** What every answer of success is at least. In place of the API, a proxy or a login page may answer, with a 200 too. */
export interface Answer {
  status: 200;
  results: Record<string, unknown>;
  pagination?: { limit?: unknown };
}

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

export const isAnswer = (value: unknown): value is Answer =>
  isObject(value) && value.status === 200 && isObject(value.results);

/** The entries of a page, which stand under the name of their resource. */
export const entriesOf = ({ results }: Answer): unknown[] | undefined => Object.values(results).find(Array.isArray);

/** Whether an answer is a page of a list; without a limit above zero, paging would not end. */
export const isPage = (answer: Answer): boolean =>
  entriesOf(answer) !== undefined && Number(answer.results.total) >= 0 && Number(answer.pagination?.limit) > 0;

export const hasLeads = ({ results }: Answer): boolean => Array.isArray(results.leads);

/** Without a cursor, the feed would begin anew for ever. */
export const isChangesPage = ({ results }: Answer): boolean =>
  Array.isArray(results.changes) && typeof results.cursor === 'string' && typeof results.hasMore === 'boolean';
