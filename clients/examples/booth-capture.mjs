// Captures leads at a booth. Each line of the input is a scan, as the body of POST /leads; it is in QUEUE, a local file,
// before it is sent. Without a network scans go on, and are sent when it is back; whenever this is killed, the next run
// sends what is left. Each scan makes one lead: it is sent under its own Idempotency-Key, which the server knows for 24
// hours. A line that is no scan, or is refused, is kept with the reason in QUEUE.refused, to be put right and given again.
// The exit status is 1 unless every line has its lead.
//
//   scanner | LANYARD_KEY=lan_… node clients/examples/booth-capture.mjs queue.ndjson
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { argument, call, parsed } from './call.mjs';

const file = argument('booth-capture', 'QUEUE');

/** On the disk when it returns. The line break comes first, because a line that was being written may be cut off. */
const note = (entry, to = file) => appendFileSync(to, `\n${JSON.stringify(entry)}`, { flush: true });

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

function refuse(line, reason) {
  note({ line, reason }, `${file}.refused`);
  console.error(reason);
  done.refused++;
}

async function send(id, scan) {
  try {
    const { results } = await call('POST', '/leads', scan, id);
    if (!results.id)
      throw new Error('POST /leads: 200 without the id of a lead: is LANYARD_URL the address of Lanyard?');
    note({ id, lead: results.id });
    done.sent++;
  } catch (error) {
    // Only what is wrong with the scan itself is its end: a key that is not accepted can be replaced.
    if ([400, 413].includes(error.status)) {
      refuse(JSON.stringify(scan), error.message);
      note({ id, refused: error.message });
    } else {
      console.error(error.message);
      done.left++;
    }
  }
}

// One after the other, while the next scans are taken.
let sending = Promise.resolve();
const enqueue = (id, scan) => (sending = sending.then(() => send(id, scan)));

for (const [id, scan] of waiting()) enqueue(id, scan);
for await (const line of createInterface({ input: process.stdin })) {
  const [id, scan] = [randomUUID(), parsed(line)];
  if (scan instanceof Object && !Array.isArray(scan)) {
    note({ id, scan });
    enqueue(id, scan);
  } else if (line.trim()) refuse(line, `Not a JSON object: ${line.slice(0, 80)}`);
}
await sending;
console.log(`${done.sent} sent, ${done.refused} refused, ${done.left} left for the next run`);
if (done.refused > 0) console.log(`What was refused, and why: ${file}.refused`);
process.exitCode = done.refused + done.left > 0 ? 1 : 0;
