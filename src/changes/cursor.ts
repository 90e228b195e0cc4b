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

/** Characters of a cursor. */
export const MAX_CURSOR = 1024;
const CHECK_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** No cursor of the organization, whatever the database is. */
export class MalformedCursor extends Error {}

const checkOf = (sealed: Buffer, organizationId: number): Buffer =>
  hash('sha256', Buffer.concat([sealed, Buffer.from(String(organizationId))]), 'buffer').subarray(0, CHECK_BYTES);

/**
 * A cursor as clients see it: sealed, because numbers of transactions tell what other organizations do. Where many
 * transactions are open, it goes back to the oldest of those that it has no room for.
 */
export function seal(cursor: Cursor, organizationId: number, secret: Buffer): string {
  for (let { open, from } = cursor; ;) {
    const text = sealed({ ...cursor, open, from }, organizationId, secret);
    if (text.length <= MAX_CURSOR) return text;
    const kept = Math.floor((open.length * MAX_CURSOR) / text.length) - 1;
    from = open[kept] as Place;
    open = open.slice(0, kept);
  }
}

function sealed(cursor: Cursor, organizationId: number, secret: Buffer): string {
  // Differences are shorter.
  const open = cursor.open.map(([xid, seq], n): Place => [xid - (cursor.open[n - 1]?.[0] ?? 0), seq]);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', secret, iv);
  const text = cipher.update(deflateRawSync(JSON.stringify({ ...cursor, open })));
  const whole = Buffer.concat([iv, text, cipher.final(), cipher.getAuthTag()]);
  return Buffer.concat([checkOf(whole, organizationId), whole]).toString('base64url');
}

/**
 * @returns undefined when the cursor is not of this database
 * @throws MalformedCursor when the text is no whole cursor of the organization
 */
export function unsealed(text: string, organizationId: number, secret: Buffer): Cursor | undefined {
  const bytes = Buffer.from(text, 'base64url');
  const whole = bytes.subarray(CHECK_BYTES);
  const isWhole = whole.length > IV_BYTES + TAG_BYTES && bytes.toString('base64url') === text;
  if (!isWhole || !checkOf(whole, organizationId).equals(bytes.subarray(0, CHECK_BYTES))) throw new MalformedCursor();
  const decipher = createDecipheriv('aes-256-gcm', secret, whole.subarray(0, IV_BYTES)).setAuthTag(
    whole.subarray(-TAG_BYTES),
  );
  try {
    const content = Buffer.concat([decipher.update(whole.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    const cursor = JSON.parse(inflateRawSync(content).toString()) as Cursor;
    let last = 0;
    return { ...cursor, open: cursor.open.map(([xid, seq]): Place => [(last += xid), seq]) };
  } catch {
    return undefined;
  }
}
