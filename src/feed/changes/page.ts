import { JsonText } from '../../data/database/statements';
import { MAX_PAGE_SIZE } from '../../data/database/limits';
import type { LastEmitted } from './cursor';
import type { FeedResource, FeedResources } from './feed-resource';

/** Maximum bytes of the changes of a page. A change that is larger than that is a page of its own. */
export const MAX_PAGE_BYTES = 1 << 20;

/** Collects the changes of a page up to a number of bytes. */
export class PageBuffer {
  readonly changes: JsonText[] = [];
  /** How many records to load at once. Of a smaller page fewer, because there may be no room for them. */
  readonly batchSize: number;
  private bytes = 0;

  constructor(private readonly maxBytes: number) {
    this.batchSize = Math.ceil((MAX_PAGE_SIZE * maxBytes) / MAX_PAGE_BYTES);
  }

  /** @returns whether there was room for the change */
  add(change: JsonText): boolean {
    this.bytes += Buffer.byteLength(change.text);
    const hasRoom = this.changes.length === 0 || this.bytes <= this.maxBytes;
    if (hasRoom) this.changes.push(change);
    return hasRoom;
  }
}

/** A row of the log. */
export type LogEntry = [
  emitted: LastEmitted,
  operation: string,
  eventId: number | null,
  id: string | null,
  remoteIds: object | null,
];

/** Which record changed; `eventId` and `id` are the integer and the uuid of its key. */
interface RecordKey {
  resource: FeedResource;
  eventId: number | string | null;
  id: string | null;
}

/** A changed record, with everything that the log entries of a page say about it. */
export interface ChangedRecord extends RecordKey {
  /** The operations of its log entries, one letter each. */
  operations: string;
  at: string;
  remoteIds: object | null;
  /** Zero-based index of its first log entry on the page. */
  firstEntry: number;
}

/** Each record once, in the order of their first log entries. */
export function mergeByRecord(entries: LogEntry[], resources: FeedResources): ChangedRecord[] {
  const records = new Map<string, ChangedRecord>();
  for (const [index, [[number, , , at], operation, eventId, id, remoteIds]] of entries.entries()) {
    const key = [number, eventId, id].join();
    const earlier = records.get(key);
    records.set(key, {
      resource: resources.byNumber.get(number)!,
      eventId,
      id,
      operations: (earlier?.operations ?? '') + operation,
      at,
      remoteIds: remoteIds ?? earlier?.remoteIds ?? null,
      firstEntry: earlier?.firstEntry ?? index,
    });
  }
  return [...records.values()];
}

/** The JSON text of a change. */
export function changeJson(
  { resource, eventId, id }: RecordKey,
  operation: string,
  at: string,
  record: string | null,
  remoteIds: string | null,
): JsonText {
  const { integer, uuid } = resource.key;
  const fields = [
    `"resource":"${resource.name}"`,
    ...(integer ? [`"${integer.name}":${eventId}`] : []),
    ...(uuid ? [`"${uuid.name}":"${id}"`] : []),
    `"operation":"${operation}"`,
    `"at":"${at}"`,
    `"record":${record}`,
    ...(resource.remoteIds ? [`"remoteIds":${remoteIds}`] : []),
  ];
  return new JsonText(`{${fields.join()}}`);
}
