import type { Needles } from './person-query';

/** A lead that is, or may be, a person, and why: a row of `FIND_LEADS`. */
export interface LeadMatch {
  id: string;
  /** The JSON text that GET returns. */
  document: string;
  name: string;
  createdAt: Date;
  matches: {
    /** An `ending` is a number of which the one that is looked for may be the end, or the other way around. */
    kind: 'id' | 'address' | 'number' | 'ending';
    field: string;
    /** As it is spelled. */
    text: string;
    /** As it is compared. */
    value: string;
  }[];
}

/** A lead of a person. */
export interface LeadSummary {
  id: string;
  name: string;
  createdAt: Date;
  /** Why it is the person's. */
  reason: string;
}

/** A lead that may be a person, by a field and its value. */
export interface PossibleLead {
  id: string;
  field: string;
  value: string;
  reason: string;
}

/** Why a lead is the person's: undefined if it only may be. */
export function reasonOf({ matches }: LeadMatch, { namedEmails, namedPhones }: Needles): string | undefined {
  const reasons = matches.flatMap(({ kind, field, text, value }) => {
    if (kind === 'id') return ['named by its ID'];
    const isNamed = kind !== 'ending' && (kind === 'address' ? namedEmails : namedPhones).includes(value);
    return isNamed ? [`${field} ${text}`] : [];
  });
  return reasons.length > 0 ? reasons.join(', ') : undefined;
}

const POSSIBLE_REASONS = {
  id: '',
  address: 'the address of a lead named by --lead',
  number: 'the number of a lead named by --lead',
  ending: 'one number is the end of the other',
};

export const possibleLeads = (leads: LeadMatch[]): PossibleLead[] =>
  leads.flatMap(({ id, matches }) =>
    matches.map(({ kind, field, text }) => ({ id, field, value: text, reason: POSSIBLE_REASONS[kind] })),
  );
