import type { Type } from '@nestjs/common';
import { ApiSchema, getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { field } from '../../fields/field-rules';
import { BooleanField, DateTime, nullable, ObjectOf, OneOf, Text } from '../../fields/fields';
import { resourcesDescription } from './change.dto';
import { MAX_CHANGES } from './changes.sql';
import { MAX_CURSOR_LENGTH } from './cursor';
import type { FeedResource, FeedResources } from './feed-resource';

export const ChangesPhase = ['snapshot', 'changes'] as const;
export type ChangesPhase = (typeof ChangesPhase)[number];
export const ChangeOperation = ['snapshot', 'created', 'updated', 'deleted'] as const;
export type ChangeOperation = (typeof ChangeOperation)[number];

@ApiSchema({ description: 'A page of the change feed.' })
export class ChangesV0Response {
  @OneOf(ChangesPhase, 'ChangesPhase', {
    description: '`snapshot` while all existing records are emitted, then `changes`.',
    example: 'changes',
  })
  phase: ChangesPhase;

  /** `describeFeed` says what a change is, because the resources are known to the running server only. */
  @field(
    { schema: { type: 'array', items: {}, maxItems: MAX_CHANGES }, check: () => undefined },
    { description: 'Each record once, in the order in which they changed.' },
  )
  changes: object[];

  @Text({ max: MAX_CURSOR_LENGTH, description: 'Pass it to get the next page.', example: 'dGhlIG5leHQgcGFnZQ' })
  cursor: string;
  @BooleanField({ description: 'Whether more changes are available now. If false, poll again later.' })
  hasMore: boolean;
}

/** The name of a resource's record in names of schemas, such as `Lead`. */
const recordName = ({ model }: FeedResource): string => model.name.replace(/V0Response$/, '');

/** The class of a resource's changes, for the API reference. */
function changeClass(resource: FeedResource): Type<object> {
  class Change {
    @OneOf([resource.name], `${recordName(resource)}ChangeResource`, { description: 'The resource.' }) resource: string;
    @OneOf(ChangeOperation, 'ChangeOperation', {
      description: 'What happened; `snapshot` in a snapshot. Store the record unless it is `deleted`.',
      example: 'updated',
    })
    operation: ChangeOperation;
    @DateTime({ description: 'Date and time of the last change; in a snapshot, of the start of the snapshot.' })
    at: string;
    @ObjectOf(() => resource.model, {
      ...nullable,
      description: 'The record as its own GET returns it now; null when deleted.',
    })
    record: object | null;
  }
  const { integer, uuid } = resource.key;
  for (const key of [integer, uuid]) key?.decorator(Change.prototype, key.name);
  resource.remoteIds?.decorator(Change.prototype, 'remoteIds');
  ApiSchema({
    name: `${recordName(resource)}Change`,
    description: `A change of one of the ${resource.name}.`,
  })(Change);
  return Change;
}

/** The schemas of all changes, to be added to the OpenAPI document. */
export const changeClasses = ({ all }: FeedResources): Type<object>[] => all.map(changeClass);

interface Described {
  schema?: object;
  description?: string;
}

/**
 * Completes the OpenAPI document with the resources of this server.
 * @param pages the schemas that have a list of changes
 */
export function describeFeed(document: OpenAPIObject, { all, names }: FeedResources, pages: Type<object>[]): void {
  const paths = all.map((resource) => getSchemaPath(`${recordName(resource)}Change`));
  const items = {
    oneOf: paths.map(($ref) => ({ $ref })),
    discriminator: {
      propertyName: 'resource',
      mapping: Object.fromEntries(names.map((name, n) => [name, paths[n]])),
    },
  };
  const schemas = (document.components?.schemas ?? {}) as Record<string, { properties: { changes: object } }>;
  for (const { name } of pages) Object.assign(schemas[name]?.properties.changes ?? {}, { items });
  const parameters = (document.paths['/changes']?.get?.parameters ?? []) as ({ name: string } & Described)[];
  const parameter = parameters.find(({ name }) => name === 'resources');
  if (!parameter) return;
  parameter.description = resourcesDescription(names);
  parameter.schema = { ...parameter.schema, maxLength: names.join().length };
}
