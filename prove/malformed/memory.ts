import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { memoryOf, until } from '../support/daemon';

/** What a process holds, after a full garbage collection. */
export interface Memory {
  /** live objects, and the buffers that belong to them */
  heapMib: number;
  residentMib: number;
  /** files and sockets */
  descriptors: number;
}

const REPORT = join(tmpdir(), `lanyard-memory-${process.pid}.json`);
/** For what requests hold that were answered a moment ago, and for sockets that are closing. */
const SETTLE_MS = 3000;

/** Flags and environment with which a Node.js process reports its memory at SIGUSR2, into a file. */
export const reporting = {
  flags: ['--expose-gc', '--import', join(__dirname, 'report-memory.mjs')],
  settings: { MEMORY_REPORT: REPORT },
};

export async function reportedMemory(pid: number): Promise<Memory> {
  await pause(SETTLE_MS);
  process.kill(pid, 'SIGUSR2');
  let heapBytes: number | undefined;
  await until('the server reports its memory', () => (heapBytes = read()) !== undefined);
  rmSync(REPORT);
  const descriptors = readdirSync(`/proc/${pid}/fd`).length;
  return { heapMib: Number(heapBytes) / 2 ** 20, residentMib: memoryOf(pid), descriptors };
}

function read(): number | undefined {
  try {
    return Number(readFileSync(REPORT, 'utf8'));
  } catch {
    return undefined;
  }
}
