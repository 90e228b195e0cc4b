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

export const EXPLAINED: Explained[] = [];
