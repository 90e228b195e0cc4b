import { ACTIVATIONS } from '../../activations/activation.dataset';
import { EVENTS, USERS } from '../../events/event.dataset';
import type { Dataset } from '../../dataset/dataset';
import { INDUSTRY_EVENTS } from '../../industry-events/industry-event.dataset';
import { LEAD_ACTIVITY_EVENTS } from '../../lead-activity-events/lead-activity-event.dataset';
import { LEADS } from '../../leads/lead.dataset';
import { TAG_GROUPS } from '../../tag-groups/tag-group.dataset';

/** The sections of a dataset, in an order in which what is referred to comes first; those that all share come last. */
export const DATASETS = {
  users: USERS,
  tagGroups: TAG_GROUPS,
  events: EVENTS,
  activations: ACTIVATIONS,
  leads: LEADS,
  leadActivityEvents: LEAD_ACTIVITY_EVENTS,
  industryEvents: INDUSTRY_EVENTS,
} satisfies Record<string, Dataset>;

export type SectionName = keyof typeof DATASETS;
export const SECTIONS = Object.keys(DATASETS) as SectionName[];

/** Records, a section. */
export type Counts = Record<SectionName, number>;
export const noRecords = (): Counts => Object.fromEntries(SECTIONS.map((section) => [section, 0])) as Counts;

/** A record as it was read, and where. */
export interface UncheckedRecord {
  section: SectionName;
  record: unknown;
  /** of the file, from 1 */
  line?: number;
}

export type Records = Iterable<UncheckedRecord> | AsyncIterable<UncheckedRecord>;
