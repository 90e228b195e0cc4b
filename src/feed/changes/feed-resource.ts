import type { Type } from '@nestjs/common';
import { Uuid } from '../../fields/fields';
import { trackedListOf, type TrackedList } from '../../data/database/tracked-list';

/** A field that names the changed record, and the column that holds it. */
export interface KeyField {
  /** The name of the field in a change, such as `eventId`. */
  name: string;
  column: string;
  /** A decorator of `fields/fields.ts`, for the API reference. */
  decorator: PropertyDecorator;
}

/** A resource whose changes are in the feed. */
export interface FeedResource extends TrackedList {
  /** The name that clients know it by, such as `leads`. */
  name: string;
  /**
   * Identifies the resource in the log and in cursors, so it must never change. A snapshot emits resources in the order of
   * their numbers: a resource has a higher number than those it refers to. Extensions use numbers from 1,000 on.
   */
  number: number;
  /** The response class of a record. */
  model: Type<object>;
  /** SQL for the JSON text of a record, from a row that has the table's name as its alias. */
  recordSql: string;
  /** What identifies a record: an integer, a uuid, or both. */
  key: { integer?: KeyField; uuid?: KeyField };
  /**
   * SQL for the part of a row that its record is rendered from, where comparing that is cheaper than rendering the record
   * before and after an update.
   */
  changeDetector?: (row: 'old' | 'new') => string;
  /** Another table whose rows are part of the record, and its column that holds the record's id. */
  childTable?: { name: string; parentColumn: string };
  /** The column with the record's ids in other systems, which the log keeps when the record is deleted. */
  remoteIds?: Omit<KeyField, 'name'>;
}

/** A resource of the feed whose rows are those of an entity. @throws Error unless it is a `@ListedEntity` */
export const feedResource = (
  entity: new () => object,
  resource: Omit<FeedResource, keyof TrackedList>,
): FeedResource => ({ ...trackedListOf(entity), ...resource });

/** The key of a record whose id is a uuid. */
export const uuidKey = (example: string): FeedResource['key'] => ({
  uuid: { name: 'id', column: 'id', decorator: Uuid({ description: 'The ID of the record.', example }) },
});

/** The resources of this server's feed, from all contexts. */
export class FeedResources {
  /** The resources in the order in which a snapshot emits them. */
  readonly all: readonly FeedResource[];
  readonly names: readonly string[];
  readonly numbers: readonly number[];
  readonly byNumber: ReadonlyMap<number, FeedResource>;

  /** @throws Error when two resources have the same number or the same name */
  constructor(resources: readonly FeedResource[]) {
    this.all = [...resources].sort((one, other) => one.number - other.number);
    this.names = this.all.map(({ name }) => name);
    this.numbers = this.all.map(({ number }) => number);
    this.byNumber = new Map(this.all.map((resource) => [resource.number, resource]));
    requireDistinct(this.all, 'number');
    requireDistinct(this.all, 'name');
  }

  /** Whether there is a resource of each name, and no name occurs twice. */
  hasNames(names: readonly string[]): boolean {
    return names.every((name) => this.names.includes(name)) && new Set(names).size === names.length;
  }

  /** The numbers of the named resources, in the order of a snapshot. */
  numbersOf(names: readonly string[]): number[] {
    return this.all.filter(({ name }) => names.includes(name)).map(({ number }) => number);
  }
}

function requireDistinct(resources: readonly FeedResource[], property: 'name' | 'number'): void {
  for (const [index, resource] of resources.entries()) {
    const first = resources.findIndex((other) => other[property] === resource[property]);
    if (first === index) continue;
    const tables = `${resources[first]?.table} and ${resource.table}`;
    throw new Error(`Two resources of the feed have the same ${property} ${resource[property]}: ${tables}`);
  }
}
