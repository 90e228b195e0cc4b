import type { Type } from '@nestjs/common';
import { ApiExtraModels, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { ActivationV0Response, EXAMPLE_ACTIVATION_ID } from '../activations/activation.response';
import { field } from '../api/field-rules';
import { BooleanField, DateTime, ListOf, nullable, NumericId, ObjectOf, OneOf, Text, Uuid } from '../api/fields';
import { Event, EventLeadV0Response } from '../events/event.response';
import {
  EXAMPLE_LEAD_ACTIVITY_EVENT_ID,
  LeadActivityEventV0Response,
} from '../lead-activity-events/lead-activity-event.response';
import { EXAMPLE_LEAD_ID, LeadV0Response, MAX_REMOTE_IDS, RemoteId } from '../leads/lead.response';
import { TagGroupV0Response, EXAMPLE_TAG_GROUP_ID } from '../tag-groups/tag-group.response';
import { MAX_CHANGES } from './changes.sql';
import { MAX_CURSOR } from './cursor';
import { FOLLOWED_NAMES } from './followed';

export const ChangesPhase = ['snapshot', 'changes'] as const;
export type ChangesPhase = (typeof ChangesPhase)[number];
export const ChangeOperation = ['snapshot', 'created', 'updated', 'deleted'] as const;
export type ChangeOperation = (typeof ChangeOperation)[number];

const RECORD = { ...nullable, description: 'The record as its own GET shows it now; null when deleted.' };

/** The change of a record. @param keys its fields that name the record */
function changeOf(resource: string, model: Type<object>, keys: Record<string, PropertyDecorator>): Type<object> {
  class Change {
    @OneOf([resource], `${model.name}Resource`, { description: 'The resource.' }) resource: string;
    @OneOf(ChangeOperation, 'ChangeOperation', {
      description: 'What happened; `snapshot` in the first reading. Store the record unless it is `deleted`.',
      example: 'updated',
    })
    operation: ChangeOperation;
    @DateTime({ description: 'Date and time of the last change; in the first reading, when that began.' }) at: string;
    @ObjectOf(() => model, RECORD) record: object | null;
  }
  for (const [name, decorate] of Object.entries(keys)) decorate(Change.prototype, name);
  ApiSchema({
    name: `${model.name.replace(/V0Response$/, '')}Change`,
    description: `A change of one of the ${resource}.`,
  })(Change);
  return Change;
}

const uuid = (example: string) => ({ id: Uuid({ description: 'The id of the record.', example }) });
const event = NumericId({ description: 'The id of the event.' });

/** What a change of each resource is, in the order of the first reading. */
const CHANGES = [
  changeOf('tagGroups', TagGroupV0Response, uuid(EXAMPLE_TAG_GROUP_ID)),
  changeOf('events', Event, { id: event }),
  changeOf('activations', ActivationV0Response, uuid(EXAMPLE_ACTIVATION_ID)),
  changeOf('leads', LeadV0Response, {
    ...uuid(EXAMPLE_LEAD_ID),
    remoteIds: ListOf(() => RemoteId, {
      max: MAX_REMOTE_IDS,
      description: 'The remote ids that the lead has, or had when it was deleted.',
    }),
  }),
  changeOf('eventLeads', EventLeadV0Response, {
    eventId: event,
    leadId: Uuid({ description: 'The id of the lead.' }),
  }),
  changeOf('leadActivityEvents', LeadActivityEventV0Response, uuid(EXAMPLE_LEAD_ACTIVITY_EVENT_ID)),
];

@ApiExtraModels(...CHANGES)
@ApiSchema({ description: 'A page of the feed of changes.' })
export class ChangesV0Response {
  @OneOf(ChangesPhase, 'ChangesPhase', {
    description: '`snapshot` in the first reading of all that is there, then `changes`.',
    example: 'changes',
  })
  phase: ChangesPhase;

  @field(
    {
      schema: {
        type: 'array',
        items: {
          oneOf: CHANGES.map((change) => ({ $ref: getSchemaPath(change) })),
          discriminator: {
            propertyName: 'resource',
            mapping: Object.fromEntries(FOLLOWED_NAMES.map((name, n) => [name, getSchemaPath(CHANGES[n]!)])),
          },
        },
        maxItems: MAX_CHANGES,
      },
      check: () => true,
    },
    { description: 'Each record once, in the order in which they changed.' },
  )
  changes: object[];

  @Text({ max: MAX_CURSOR, description: 'Ask for the next page with it.', example: 'dGhlIG5leHQgcGFnZQ' })
  cursor: string;
  @BooleanField({ description: 'Whether there is more now. When false, ask again in a while.' }) hasMore: boolean;
}
