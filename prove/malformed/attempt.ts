import { Random } from '../support/random';
import { brokenHttp } from './broken-http';
import type { Operation } from './description';
import { type Draft, draw, write } from './requests';
import type { World } from './world';

/** What one request of an attempt must be answered with. */
export interface Expected {
  statuses: number[];
  /** X-Request-Id of the answer; undefined when the request cannot be read */
  id: string | undefined;
}

/** Bytes to send on one connection, and what is to come back. */
export interface Attempt {
  index: number;
  label: string;
  bytes: Buffer;
  answers: Expected[];
  /**
   * How the connection is left: open for the next attempt; closed by the server; ended by the client, which still reads;
   * or gone with the client, which waits for no answer.
   */
  ending: 'open' | 'closed' | 'ended' | 'gone';
}

export interface Grammar {
  operations: Operation[];
  world: World;
  seed: number;
}

const expected = ({ statuses, id }: Draft): Expected => ({ statuses, id });

/** The attempt of a number: always the same one for the same seed and world. */
export function attempt({ operations, world, seed }: Grammar, index: number): Attempt {
  const random = new Random(seed, index);
  const drawn = (part = 0): Draft =>
    draw({ random, world, operation: random.pick(operations), id: `f-${seed}-${index}-${part}` });
  const kind = random.below(100);
  if (kind < 8) {
    // Some requests at once, of which the last is broken: the answers keep their order.
    const drafts = Array.from({ length: random.between(2, 8) }, (_, part) => drawn(part));
    const broken = brokenHttp(random, world);
    const bytes = Buffer.concat([...drafts.map((draft) => write(random, draft)), broken.bytes]);
    const answers = [...drafts.map(expected), { statuses: broken.statuses, id: undefined }];
    return { index, label: 'pipeline', bytes, answers, ending: 'ended' };
  }
  if (kind < 30) {
    const { label, bytes, statuses } = brokenHttp(random, world);
    return { index, label, bytes, answers: [{ statuses, id: undefined }], ending: 'ended' };
  }
  const draft = drawn();
  const bytes = write(random, draft);
  if (kind < 40) {
    // A request that stops before its end.
    const half = bytes.subarray(0, random.between(1, bytes.length - 1));
    const answers = [{ statuses: [...draft.statuses, 400, 408], id: undefined }];
    return kind < 36
      ? { index, label: 'client: ended', bytes: half, answers, ending: 'ended' }
      : { index, label: 'client: gone', bytes: half, answers: [], ending: 'gone' };
  }
  return { index, label: draft.label, bytes, answers: [expected(draft)], ending: 'open' };
}
