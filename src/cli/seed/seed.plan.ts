/** What makes an invented organization: the same gives the same, record by record. */
export interface Seed {
  organizationId: number;
  /** of the random numbers: a whole one */
  seed: number;
  leads: number;
  /** the day, YYYY-MM-DD, before which it all happened, but for a few events that are still to come */
  until: string;
}

/** How many there are beside the leads grows more slowly than they do, and so does what is held in memory. */
export const sizesOf = ({ leads }: Pick<Seed, 'leads'>) => ({
  users: 4 + Math.min(400, Math.round(Math.sqrt(leads) / 4)),
  events: 3 + Math.min(400, Math.round(leads / 400)),
  companies: 5 + Math.min(5000, Math.round(leads / 8)),
});

export const ACTIVATIONS_AN_EVENT = 3;

/** How much was done with one lead and the next; with most of them, nothing. */
const ACTIVITIES = [0, 2, 0, 1, 0, 0, 3, 0, 1, 1];
export const activitiesOf = (lead: number): number => ACTIVITIES[lead % ACTIVITIES.length] ?? 0;

/** The number of all records, known before they are made. */
export function seedTotal({ leads }: Pick<Seed, 'leads'>): number {
  const { users, events } = sizesOf({ leads });
  const sum = (counts: number[]): number => counts.reduce((all, count) => all + count, 0);
  const round = Math.floor(leads / ACTIVITIES.length) * sum(ACTIVITIES);
  const activities = round + sum(ACTIVITIES.slice(0, leads % ACTIVITIES.length));
  return users + TAG_GROUPS.length + events * (1 + ACTIVATIONS_AN_EVENT) + leads + activities;
}

const INTERESTS = ['Pumps', 'Valves', 'Sensors', 'Drives', 'Controls', 'Filters', 'Service contracts', 'Training'];
export const TOPICS = INTERESTS.slice(0, 6);

export const TAG_GROUPS = [
  { name: 'Temperature', options: ['Hot', 'Warm', 'Cold'], several: false },
  { name: 'Timeframe', options: ['This quarter', 'This year', 'Next year', 'No plans'], several: false },
  { name: 'Role', options: ['Decision maker', 'Influencer', 'User', 'Press', 'Student'], several: false },
  { name: 'Interest', options: INTERESTS, several: true },
  { name: 'Next step', options: ['Call', 'Quotation', 'Visit', 'Sample', 'Newsletter'], several: true },
];

export const INDUSTRIES = [
  ...['Machinery', 'Water', 'Energy', 'Chemicals', 'Food and beverage', 'Pharmaceuticals', 'Automotive', 'Mining'],
  ...['Construction', 'Logistics', 'Electronics', 'Consulting', 'Public sector', 'Education'],
];

/** Beside the booth, which each event has. */
export const ACTIVATION_TYPES = [
  ...['BREAKFAST', 'LUNCH', 'SPEAKING_SESSION', 'PANEL_DISCUSSION', 'WORKSHOP', 'DEMO', 'HAPPY_HOUR', 'GIVEAWAY'],
];

export const NOTES = [
  'Asked for a quotation.',
  'Wants a visit to the plant.',
  'Replaces their supplier at the end of the year.',
  'Left a message.',
  'Met at the booth, sent the data sheet.',
  'Budget is approved.',
  'No need at the moment.',
  'Forwarded to the service team.',
];

export const PHONE_TYPES = ['MOBILE', 'MOBILE', 'OFFICE', 'DIRECT', 'LANDLINE'];

type Weighted<T> = { weight: number; value: T }[];

export const ACTIONS: Weighted<string> = [
  { weight: 6, value: 'EMAIL' },
  { weight: 5, value: 'NOTE' },
  { weight: 4, value: 'PHONE' },
  { weight: 2, value: 'CALENDAR' },
  { weight: 2, value: 'LINKEDIN' },
  { weight: 2, value: 'CAMPAIGN_ASSOCIATION' },
  { weight: 1, value: 'SMS' },
];

/** Types of event, the word for them in a name, and the most days that they last. */
export const KINDS: Weighted<{ type: string; word: string; days: number }> = [
  { weight: 5, value: { type: 'TRADE_SHOW', word: 'Expo', days: 4 } },
  { weight: 4, value: { type: 'CONFERENCE', word: 'Summit', days: 3 } },
  { weight: 2, value: { type: 'EVENT', word: 'Open Day', days: 1 } },
  { weight: 1, value: { type: 'DINNER_MEAL', word: 'Dinner', days: 1 } },
];
