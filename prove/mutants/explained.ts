/** A mutant that survives and may. */
export interface Explained {
  file: string;
  /** what is changed, white space as one blank */
  code: string;
  /** what it is changed to; left out: whatever */
  to?: string | string[];
  /** why no test can tell, or why it makes no difference to anybody */
  reason: string;
}

const ACCESS: Explained[] = [
  {
    file: 'src/access/access.guard.ts',
    code: '!missing',
    to: 'true',
    reason: 'a key that is missing has not the form of one, and is refused a line later just the same',
  },
  {
    file: 'src/access/key-format.ts',
    code: '[]',
    to: '["Stryker was here"]',
    reason: 'the first element is what the expression matched as a whole, and is skipped',
  },
];

const HTTP: Explained[] = [
  {
    file: 'src/http/body.guard.ts',
    code: '{ throw new BadRequestException(); }',
    to: '{}',
    reason: 'the body stays undefined, which the next check refuses with the same answer',
  },
  {
    file: 'src/http/idempotency.guard.ts',
    code: "typeof key !== 'string'",
    to: 'false',
    reason: 'Node joins a header of this name that is sent twice to one string; the check is for the type',
  },
];

export const EXPLAINED: Explained[] = [...ACCESS, ...HTTP];
