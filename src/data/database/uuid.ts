import { createHash, randomUUID } from 'node:crypto';

/** Bytes of which all but the version and the variant are random. Node.js draws them in bulk; `randomBytes` asks the system each time. */
const randomUuidBytes = (): Buffer => Buffer.from(randomUUID().replaceAll('-', ''), 'hex');

/** Formats 16 bytes as a UUID (RFC 9562), with the version and the variant set. */
function uuidOf(bytes: Buffer, version: number): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | (version << 4), 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * Version 7, which sorts by time.
 * @param at milliseconds
 * @param rest 16 bytes, of which 10 are used
 */
export function uuidV7(at = Date.now(), rest = randomUuidBytes()): string {
  const bytes = Buffer.from(rest);
  bytes.writeUIntBE(at, 0, 6);
  return uuidOf(bytes, 7);
}

/** Version 5: the same name is the same uuid. @param namespace a uuid */
export function uuidV5(name: string, namespace: string): string {
  const space = Buffer.from(namespace.replaceAll('-', ''), 'hex');
  return uuidOf(createHash('sha1').update(space).update(name).digest(), 5);
}
