import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Where a change stands in the log: the number of its transaction, and its number within the log. */
export type Place = [xid: number, seq: number];

/** The newest change that was told. A database that lacks it is another one, restored from an older state. */
export type Anchor = [resource: number, xid: number, seq: number, at: string];

/**
 * What of a log was not told yet: changes of transactions that were open when newer ones were told, each after a place, and
 * all after the last place. So nothing waits for an open transaction, and nothing of it is lost (docs/decisions/0020).
 */
export interface Cursor {
  /** The identity of the database that made it. */
  database: string;
  generation: string;
  /** numbers of the resources */
  resources: number[];
  /** in order of their transactions */
  open: Place[];
  from: Place;
  anchor: Anchor | null;
  /** within the first reading: which of the resources, the last row that was read of it, and when the reading began */
  reading: { nth: number; eventId: number; position: number; at: string } | null;
}

/** The parts of the log that a cursor has not told: after a place, and before a transaction. */
export const untold = ({ open, from }: Cursor): { xid: number; seq: number; before: number }[] => [
  ...open.map(([xid, seq]) => ({ xid, seq, before: xid + 1 })),
  { xid: from[0], seq: from[1], before: Number.MAX_SAFE_INTEGER },
];

const isBefore = ([xid, seq]: Place, [otherXid, otherSeq]: Place): boolean =>
  xid < otherXid || (xid === otherXid && seq < otherSeq);

/**
 * The cursor after a page.
 * @param last the last change that the page told, if any
 * @param openNow transactions that were open when the page was read, in order
 * @param isCut whether the log has more for it than the page
 */
export function after(cursor: Cursor, last: Anchor | undefined, openNow: number[], isCut: boolean): Cursor {
  const place: Place | undefined = last && [last[1], last[2]];
  const isNew = place !== undefined && !isBefore(place, cursor.from);
  const from = isNew ? place : cursor.from;
  // A page that ends within the older parts leaves those that follow.
  const left = place && isCut && !isNew ? [place, ...cursor.open.filter(([xid]) => xid > place[0])] : [];
  const end = left[0]?.[0] ?? from[0];
  const open = [...openNow.filter((xid) => xid < end).map((xid): Place => [xid, 0]), ...left];
  return { ...cursor, open, from, anchor: isNew ? (last ?? null) : cursor.anchor, reading: null };
}

/** Characters of a cursor. One that would be longer names its open transactions by the hash under which they are stored. */
export const MAX_CURSOR = 1024;
const CHECK_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** No cursor at all, or one of another organization. */
export class MalformedCursor extends Error {}

/** A cursor of the format before: it was bound to its organization by a checksum that anybody can compute. */
export class OutdatedCursor extends Error {}

/** What a cursor holds as clients have it; `stored` is the hash of its open transactions, when they are kept here. */
export type SealedCursor = Cursor & { stored?: string };

/** Not a secret: it tells a cursor that was damaged on its way, which is malformed, from one of another database. */
const checksumOf = (sealed: Buffer, suffix: string): Buffer =>
  hash('sha256', Buffer.concat([sealed, Buffer.from(suffix)]), 'buffer').subarray(0, CHECK_BYTES);
const FORMAT = 'cursor 2';

/**
 * A cursor as clients see it: encrypted, because transaction numbers tell what other organizations do, and authenticated
 * together with its organization, so that nobody can make one for another organization.
 */
export function seal(cursor: SealedCursor, organizationId: number, secret: Buffer): string {
  const content = { ...cursor, open: differences(cursor.open), organizationId };
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', secret, iv);
  const encrypted = cipher.update(deflateRawSync(JSON.stringify(content)));
  const sealed = Buffer.concat([iv, encrypted, cipher.final(), cipher.getAuthTag()]);
  return Buffer.concat([checksumOf(sealed, FORMAT), sealed]).toString('base64url');
}

/**
 * @returns undefined when the cursor was sealed with another secret, which another database has
 * @throws MalformedCursor, OutdatedCursor
 */
export function unsealed(text: string, organizationId: number, secret: Buffer): SealedCursor | undefined {
  const bytes = Buffer.from(text, 'base64url');
  const [checksum, sealed] = [bytes.subarray(0, CHECK_BYTES), bytes.subarray(CHECK_BYTES)];
  if (sealed.length <= IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) throw new MalformedCursor();
  if (!checksum.equals(checksumOf(sealed, FORMAT))) {
    const isOutdated = checksum.equals(checksumOf(sealed, String(organizationId)));
    throw isOutdated ? new OutdatedCursor() : new MalformedCursor();
  }
  const content = decrypted(sealed, secret);
  if (!content) return undefined;
  const { organizationId: owner, open, ...rest } = JSON.parse(content) as SealedCursor & { organizationId: number };
  // Its content is authentic, so that this is for certain the cursor of another organization.
  if (owner !== organizationId) throw new MalformedCursor();
  return { ...rest, open: fromDifferences(open) };
}

function decrypted(sealed: Buffer, secret: Buffer): string | undefined {
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
const differences = (open: Place[]): Place[] => open.map(([xid, seq], n) => [xid - (open[n - 1]?.[0] ?? 0), seq]);

function fromDifferences(open: Place[]): Place[] {
  let last = 0;
  return open.map(([difference, seq]) => {
    last += difference;
    return [last, seq];
  });
}

/** Open transactions as they are stored, and the hash that names them. */
export function storedPositions(open: Place[]): { hash: string; positions: string } {
  const positions = JSON.stringify(differences(open));
  return { hash: hash('sha256', positions), positions };
}

export const openOf = (positions: string): Place[] => fromDifferences(JSON.parse(positions) as Place[]);
