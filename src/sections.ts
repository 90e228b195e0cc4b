import { ACTIVATIONS } from './activations/activation.dataset';
import { type Dataset, Datasets } from './datasets/dataset';
import { EVENTS, USERS } from './events/event.dataset';
import { INDUSTRY_EVENTS } from './industry-events/industry-event.dataset';
import { LEAD_ACTIVITY_EVENTS } from './lead-activity-events/lead-activity-event.dataset';
import { LEADS } from './leads/lead.dataset';
import { TAG_GROUPS } from './tag-groups/tag-group.dataset';

/** The sections of a dataset, in an order in which what is referred to comes first; those that all share come last. */
const sections = {
  users: USERS,
  tagGroups: TAG_GROUPS,
  events: EVENTS,
  activations: ACTIVATIONS,
  leads: LEADS,
  leadActivityEvents: LEAD_ACTIVITY_EVENTS,
  industryEvents: INDUSTRY_EVENTS,
} satisfies Record<string, Dataset>;

export const DATASETS = new Datasets(sections);
