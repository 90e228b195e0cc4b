import type { Session } from './session';
import type { Tool } from './tool';
import { findLeads, getLead } from './tools/leads';
import { listChanges, listEvents, listTagsAndActivations, searchIndustryEvents } from './tools/lists';
import {
  addLeadsToEvent,
  bookmarkIndustryEvent,
  createLead,
  deleteLead,
  updateLead,
  upsertLeads,
} from './tools/writes';

/** All tools. An agent has to read the list with every task, so there are at most 12. */
export const TOOLS: readonly Tool[] = [
  findLeads,
  getLead,
  listEvents,
  searchIndustryEvents,
  listTagsAndActivations,
  listChanges,
  createLead,
  updateLead,
  upsertLeads,
  addLeadsToEvent,
  bookmarkIndustryEvent,
  deleteLead,
];

/** The tools that the key and the settings allow. While the scope of the key is unknown, no tool that writes is among them. */
export const availableTools = (session: Session): Tool[] => TOOLS.filter((tool) => !rejectionOf(tool, session));

/** Why a tool is not available, in one sentence; undefined if it is. */
export function rejectionOf(
  { isDelete, scopes, annotations }: Tool,
  { scope, allowDeletes }: Session,
): string | undefined {
  if (isDelete && !allowDeletes) return 'Deletes are not allowed: lanyard-mcp was started without --allow-deletes.';
  if (scope.isKnown) return scope.includes(scopes) ? undefined : scope.sentence;
  return annotations.readOnlyHint ? undefined : 'Nothing can be written yet: no request to Lanyard has succeeded.';
}
