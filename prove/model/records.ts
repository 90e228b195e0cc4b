import { Journal, Table } from './journal';

/** What the model keeps: records in the shape in which the contract shows them, and what it does not show beside it. */

export type Fields = Record<string, unknown>;

export interface EventRecord {
  /** as the contract shows it */
  shown: Fields & { id: number; createdAt: string; tagGroups: string[] };
  /** undefined until a dataset has told it */
  ref: string | undefined;
  /** e-mails of the assigned users */
  users: string[];
}

export interface LeadRecord {
  /** without what others have of it: tags with their values, activity events */
  shown: Fields & { id: string; createdAt: string };
  tags: string[];
  activations: { activationId: string; checkedIn: boolean; registered: boolean }[];
}

interface Association {
  /** place among the associations of the event */
  position: number;
  event: number;
  shown: { leadId: string; registered: boolean; checkedIn: boolean };
}

export interface Activity extends Fields {
  id: string;
  createdAt: string;
  associatedLead: string;
  eventType: string;
  associatedEvent: number | null;
  associatedActivation: string | null;
  associatedTagOption: string | null;
}

export interface Activation extends Fields {
  id: string;
  createdAt: string;
  eventId: number;
}

export interface TagOption {
  id: string;
  displayOrder: number;
  value: string;
}

interface TagGroup {
  createdAt: string;
  shown: Fields & { id: string; tagOptions: TagOption[] };
}

export interface User {
  /** undefined until an answer has told it */
  id: number | undefined;
  createdAt: string;
  email: string;
  firstName: unknown;
  lastName: unknown;
}

export interface IndustryEvent extends Fields {
  id: string;
  createdAt: string;
  updatedAt: string;
  name: string;
  startDate: string | null;
  endDate: string | null;
  eventUrl: string | null;
}

const by =
  <Row>(...keys: ((row: Row) => string | number)[]) =>
  (a: Row, b: Row): number => {
    for (const key of keys) {
      const [left, right] = [key(a), key(b)];
      if (left !== right) return left < right ? -1 : 1;
    }
    return 0;
  };

/** The order of lists: creation, then id. */
export const byCreation = by<{ createdAt: string; id: string | number }>(
  ({ createdAt }) => createdAt,
  ({ id }) => id,
);

/** Everything of one organization. */
export class Tenant {
  readonly events: Table<number, EventRecord>;
  readonly leads: Table<string, LeadRecord>;
  /** by event and lead, joined by a slash */
  readonly associations: Table<string, Association>;
  readonly activities: Table<string, Activity>;
  readonly activations: Table<string, Activation>;
  readonly tagGroups: Table<string, TagGroup>;
  readonly users: Table<string, User>;
  readonly bookmarks: Table<string, string>;

  constructor(
    readonly id: number,
    journal: Journal,
  ) {
    this.events = new Table(journal, (a, b) => byCreation(a.shown, b.shown));
    this.leads = new Table(journal, (a, b) => byCreation(a.shown, b.shown));
    this.associations = new Table(
      journal,
      by<Association>(({ position }) => position),
    );
    this.activities = new Table<string, Activity>(journal, byCreation);
    this.activations = new Table<string, Activation>(journal, byCreation);
    this.tagGroups = new Table(journal, (a, b) => byCreation({ ...a, id: a.shown.id }, { ...b, id: b.shown.id }));
    this.users = new Table(
      journal,
      by<User>(({ createdAt }) => createdAt),
    );
    this.bookmarks = new Table(
      journal,
      by<string>((id) => id),
    );
  }

  tagOption(id: string): TagOption | undefined {
    for (const { shown } of this.tagGroups.list()) {
      const option = shown.tagOptions.find((each) => each.id === id);
      if (option) return option;
    }
    return undefined;
  }
}
