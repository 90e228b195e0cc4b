import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { InvalidRequest } from '../../errors/exceptions';

/** Where a change is in the log: the number of its transaction, and its number within the log. */
export type LogPosition = [xid: number, seq: number];

/** The newest change that was emitted. If a database lacks it, the database was restored from an older state. */
export type LastEmitted = [resource: number, xid: number, seq: number, at: string];

/** How far a snapshot has been read. */
export interface SnapshotProgress {
  /** Zero-based index of the resource that is being read, in `Cursor.resources`. */
  nth: number;
  /** The parent of the last row that was read, for resources with a list for each parent, such as an event; otherwise 0. */
  eventId: number | string;
  /** The position of the last row that was read, or -1. */
  position: number;
  /** Date and time when the snapshot began. */
  at: string;
}

/**
 * What of a log is still to be emitted: for each transaction that was open when newer changes were emitted, its changes after
 * a position; and all changes after the last position. So the feed neither waits for an open transaction nor loses any of
 * its changes (docs/decisions/0020).
 */
export interface Cursor {
  /** The identity of the database that created the cursor. */
  database: string;
  generation: string;
  /** The numbers of the resources that the cursor follows, in the order of a snapshot. */
  resources: number[];
  /** Positions in open transactions, in the order of their numbers. */
  openTransactions: LogPosition[];
  position: LogPosition;
  lastEmitted: LastEmitted | null;
  /** Null when the snapshot is complete, or was skipped. */
  snapshotProgress: SnapshotProgress | null;
}

/** A part of the log: the changes after a position, and before a transaction. */
export interface LogRange {
  xid: number;
  seq: number;
  before: number;
}

/** The parts of the log that are still to be emitted. */
export const pendingRanges = ({ openTransactions, position }: Cursor): LogRange[] => [
  ...openTransactions.map(([xid, seq]) => ({ xid, seq, before: xid + 1 })),
  { xid: position[0], seq: position[1], before: Number.MAX_SAFE_INTEGER },
];

const isBefore = ([xid, seq]: LogPosition, [otherXid, otherSeq]: LogPosition): boolean =>
  xid < otherXid || (xid === otherXid && seq < otherSeq);

/**
 * The cursor after a page.
 * @param lastOfPage the last change of the page, if it has any
 * @param openNow the numbers of the transactions that were open when the page was read, in ascending order
 * @param isCut whether the log has more changes for the cursor than the page
 */
export function advanceCursor(
  cursor: Cursor,
  lastOfPage: LastEmitted | undefined,
  openNow: number[],
  isCut: boolean,
): Cursor {
  const end: LogPosition | undefined = lastOfPage && [lastOfPage[1], lastOfPage[2]];
  const isNewest = end !== undefined && !isBefore(end, cursor.position);
  const position = isNewest ? end : cursor.position;
  // A page that ends within an older transaction leaves the rest of it, and the transactions after it.
  const unfinished = end && isCut && !isNewest ? [end, ...cursor.openTransactions.filter(([xid]) => xid > end[0])] : [];
  const firstUnfinished = unfinished[0]?.[0] ?? position[0];
  const stillOpen = openNow.filter((xid) => xid < firstUnfinished).map((xid): LogPosition => [xid, 0]);
  return {
    ...cursor,
    openTransactions: [...stillOpen, ...unfinished],
    position,
    lastEmitted: isNewest ? (lastOfPage ?? null) : cursor.lastEmitted,
    snapshotProgress: null,
  };
}

/** Maximum characters of a cursor. A longer one refers to its open transactions by the hash under which they are stored. */
export const MAX_CURSOR_LENGTH = 1024;
const CHECKSUM_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Thrown for a text that is not a cursor, or that is one of another organization. */
export class MalformedCursor extends InvalidRequest {
  constructor() {
    super('query cursor', 'format');
  }
}

/** A cursor as clients have it. `stored` is the hash of its open transactions if they are stored in the database. */
export type DecodedCursor = Cursor & { stored?: string };

/** The JSON in a cursor. Clients keep cursors for weeks, so its names stay. */
const toContent = (cursor: DecodedCursor, organizationId: number) => ({
  database: cursor.database,
  generation: cursor.generation,
  resources: cursor.resources,
  open: toDifferences(cursor.openTransactions),
  from: cursor.position,
  anchor: cursor.lastEmitted,
  reading: cursor.snapshotProgress,
  stored: cursor.stored,
  organizationId,
});

/**
 * Distinguishes a cursor that was damaged on its way, which is malformed, from a cursor of another database. It is not a
 * secret.
 */
const checksumOf = (sealed: Buffer): Buffer =>
  hash('sha256', Buffer.concat([sealed, FORMAT]), 'buffer').subarray(0, CHECKSUM_BYTES);
const FORMAT = Buffer.from('cursor 2');

/**
 * A cursor as clients see it. It is encrypted because transaction numbers reveal the activity of other organizations, and
 * authenticated together with its organization so that nobody can forge one for another organization.
 */
export function encodeCursor(cursor: DecodedCursor, organizationId: number, secret: Buffer): string {
  const content = toContent(cursor, organizationId);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', secret, iv);
  const encrypted = cipher.update(deflateRawSync(JSON.stringify(content)));
  const sealed = Buffer.concat([iv, encrypted, cipher.final(), cipher.getAuthTag()]);
  return Buffer.concat([checksumOf(sealed), sealed]).toString('base64url');
}

/**
 * @returns undefined when the cursor was encoded with another secret, which means by another database
 * @throws MalformedCursor
 */
export function decodeCursor(text: string, organizationId: number, secret: Buffer): DecodedCursor | undefined {
  const bytes = Buffer.from(text, 'base64url');
  const checksum = bytes.subarray(0, CHECKSUM_BYTES);
  const sealed = bytes.subarray(CHECKSUM_BYTES);
  if (sealed.length <= IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) throw new MalformedCursor();
  if (!checksum.equals(checksumOf(sealed))) throw new MalformedCursor();
  const json = decrypt(sealed, secret);
  if (json === undefined) return undefined;
  const content = JSON.parse(json) as ReturnType<typeof toContent>;
  // The content is authentic, so this is certainly the cursor of another organization.
  if (content.organizationId !== organizationId) throw new MalformedCursor();
  return {
    database: content.database,
    generation: content.generation,
    resources: content.resources,
    openTransactions: fromDifferences(content.open),
    position: content.from,
    lastEmitted: content.anchor,
    snapshotProgress: content.reading,
    stored: content.stored,
  };
}

function decrypt(sealed: Buffer, secret: Buffer): string | undefined {
  const decipher = createDecipheriv('aes-256-gcm', secret, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const content = decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES));
    return inflateRawSync(Buffer.concat([content, decipher.final()])).toString();
  } catch {
    return undefined;
  }
}

/** Differences between transaction numbers are shorter than the numbers. */
const toDifferences = (positions: LogPosition[]): LogPosition[] =>
  positions.map(([xid, seq], n) => [xid - (positions[n - 1]?.[0] ?? 0), seq]);

function fromDifferences(positions: LogPosition[]): LogPosition[] {
  let xid = 0;
  return positions.map(([difference, seq]) => {
    xid += difference;
    return [xid, seq];
  });
}

/** Open transactions as the database stores them, and the hash that a cursor refers to them by. */
export function encodePositions(openTransactions: LogPosition[]): { hash: string; positions: string } {
  const positions = JSON.stringify(toDifferences(openTransactions));
  return { hash: hash('sha256', positions), positions };
}

export const decodePositions = (positions: string): LogPosition[] =>
  fromDifferences(JSON.parse(positions) as LogPosition[]);
