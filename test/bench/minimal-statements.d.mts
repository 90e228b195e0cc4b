/** The types of minimal-statements.mjs, for nest-lean.ts. */
type Answer = Promise<string | undefined>;

export const organizations: Map<string, number>;
export const answers: {
  leads(organization: number, query: URLSearchParams): Answer;
  lead(organization: number, id: string): Answer;
  activity(organization: number, query: URLSearchParams): Answer;
  search(query: URLSearchParams): Answer;
  create(organization: number, body: object): Answer;
  patch(organization: number, id: string, body: object): Answer;
  associate(organization: number, id: string, body: object): Answer;
};
export function takeToken(key: string): Promise<{ admitted: boolean; headers: Record<string, string | number> }>;
