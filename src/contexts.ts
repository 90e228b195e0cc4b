import { type DynamicModule, Global, Module, type Type } from '@nestjs/common';
import { OrganizationData } from './access/organization-data';
import { ACTIVATIONS_CONTEXT } from './contexts/activations/activations.context';
import { changeFunctions } from './feed/changes/change.functions';
import { type FeedResource, FeedResources } from './feed/changes/feed-resource';
import { type Dataset, Datasets } from './exchange/datasets/dataset';
import { EVENTS_CONTEXT } from './contexts/events/events.context';
import { INDUSTRY_EVENTS_CONTEXT } from './contexts/industry-events/industry-events.context';
import { LEAD_ACTIVITY_EVENTS_CONTEXT } from './contexts/lead-activity-events/lead-activity-events.context';
import { LEADS_CONTEXT } from './contexts/leads/leads.context';
import { SchemaDefinition } from './data/schema/schema-definition';
import { TAG_GROUPS_CONTEXT } from './contexts/tag-groups/tag-groups.context';

/** A bounded context: what the rest of Lanyard needs to know about it. */
export interface Context {
  module: Type;
  /** Its sections of import and export, by name. */
  sections?: Record<string, Dataset>;
  /** Its resources in the change feed. */
  feedResources?: readonly FeedResource[];
}

/** All contexts, in the order in which their routes are tried, which is also that of the API reference. */
export const CONTEXTS: readonly Context[] = [
  LEADS_CONTEXT,
  LEAD_ACTIVITY_EVENTS_CONTEXT,
  EVENTS_CONTEXT,
  INDUSTRY_EVENTS_CONTEXT,
  ACTIVATIONS_CONTEXT,
  TAG_GROUPS_CONTEXT,
];

/** Sections that others refer to, in the order in which import and export have them. All other sections follow. */
const FIRST_SECTIONS = ['users', 'tagGroups', 'events', 'activations', 'leads'];

/** The sections of import and export; records come after those they refer to. */
export function datasetsOf(contexts: readonly Context[]): Datasets {
  const sections = new Map<string, Dataset>();
  for (const [name, dataset] of contexts.flatMap((context) => Object.entries(context.sections ?? {}))) {
    if (sections.has(name)) throw new Error(`Two contexts define a section called ${name}.`);
    sections.set(name, dataset);
  }
  const names = new Set([...FIRST_SECTIONS.filter((name) => sections.has(name)), ...sections.keys()]);
  return new Datasets(Object.fromEntries([...names].map((name) => [name, sections.get(name)!])));
}

/** The lowest number of a feed resource that an extension may use. Lanyard's own resources have lower ones. */
export const MIN_EXTENSION_NUMBER = 1000;

/** @throws Error when a number or a name occurs twice, or an extension uses a number of Lanyard's own */
export function feedResourcesOf(contexts: readonly Context[]): FeedResources {
  for (const context of contexts) {
    if (CONTEXTS.includes(context)) continue;
    for (const { name, number } of context.feedResources ?? []) {
      if (number >= MIN_EXTENSION_NUMBER) continue;
      throw new Error(
        `The feed resource ${name} of an extension has the number ${number}. Use ${MIN_EXTENSION_NUMBER} or more.`,
      );
    }
  }
  return new FeedResources(contexts.flatMap(({ feedResources = [] }) => feedResources));
}

/** What an extension adds to the schema beside its contexts. */
export type SchemaAdditions = Partial<Pick<SchemaDefinition, 'migrations' | 'unscopedTables'>>;

export const schemaDefinitionOf = (
  contexts: readonly Context[],
  { migrations = [], unscopedTables = [] }: SchemaAdditions = {},
): SchemaDefinition => ({ functions: feedResourcesOf(contexts).all.map(changeFunctions), migrations, unscopedTables });

/** The entities of all sections. What refers to others comes first, so that it is deleted first. */
export const organizationDataOf = (contexts: readonly Context[]): OrganizationData => {
  const { sections } = datasetsOf(contexts);
  return new OrganizationData(
    Object.values(sections)
      .map(({ entity }) => entity)
      .reverse(),
  );
};

/** Provides what the contexts say together, so that neither access nor the feed nor import and export names a context. */
@Global()
@Module({})
export class ContextsModule {
  static with(contexts: readonly Context[], additions?: SchemaAdditions): DynamicModule {
    return {
      module: ContextsModule,
      providers: [
        { provide: Datasets, useValue: datasetsOf(contexts) },
        { provide: FeedResources, useValue: feedResourcesOf(contexts) },
        { provide: OrganizationData, useValue: organizationDataOf(contexts) },
        { provide: SchemaDefinition, useValue: schemaDefinitionOf(contexts, additions) },
      ],
      exports: [Datasets, FeedResources, OrganizationData, SchemaDefinition],
    };
  }
}
