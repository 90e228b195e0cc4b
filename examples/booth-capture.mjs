// Captures leads at a booth. Each line of the input is a scan, as the body of POST /leads; it is in the queue, a local
// file, before it is sent. Without a network scans go on, and are sent when it is back; whenever this is killed, the next
// run sends what is left. Each scan makes one lead: it is sent under its own Idempotency-Key, which the server knows for
// 24 hours.
//
//   scanner | LANYARD_KEY=lan_… node examples/booth-capture.mjs queue.ndjson
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { argument, call } from './call.mjs';

const file = argument('booth-capture', 'QUEUE');

/** On the disk when it returns. The line break comes first, because a line that was being written may be cut off. */
const note = (entry) => appendFileSync(file, `\n${JSON.stringify(entry)}`, { flush: true });

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The scans of earlier runs that have no lead yet, by their Idempotency-Keys. */
function waiting() {
  const left = new Map();
  for (const entry of existsSync(file) ? readFileSync(file, 'utf8').split('\n').map(parsed) : []) {
    if (entry?.scan) left.set(entry.id, entry.scan);
    else if (entry) left.delete(entry.id);
  }
  return left;
}

const done = { sent: 0, refused: 0, left: 0 };

async function send(id, scan) {
  try {
    const { results } = await call('POST', '/leads', scan, id);
    note({ id, lead: results.id });
    done.sent++;
  } catch (error) {
    // Only what is wrong with the scan itself is its end: a key that is not accepted can be replaced.
    const isRefused = [400, 413].includes(error.status);
    if (isRefused) note({ id, refused: error.message });
    done[isRefused ? 'refused' : 'left']++;
    console.error(error.message);
  }
}

// One after the other, while the next scans are taken.
let sending = Promise.resolve();
const enqueue = (id, scan) => (sending = sending.then(() => send(id, scan)));

for (const [id, scan] of waiting()) enqueue(id, scan);
for await (const text of createInterface({ input: process.stdin })) {
  const [id, scan] = [randomUUID(), parsed(text)];
  if (!scan) {
    console.error(`Not a scan: ${text}`);
    continue;
  }
  note({ id, scan });
  enqueue(id, scan);
}
await sending;
console.log(`${done.sent} sent, ${done.refused} refused, ${done.left} left for the next run`);
process.exitCode = done.left > 0 ? 1 : 0;
