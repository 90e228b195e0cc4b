import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** What a process holds, after a full garbage collection. */
export interface Memory {
  /** bytes of live objects, and of the buffers that belong to them */
  heap: number;
  /** bytes of physical memory */
  rss: number;
  /** files and sockets */
  descriptors: number;
}

const report = join(tmpdir(), `lanyard-memory-${process.pid}.json`);

/** Node flags and environment with which a server tells what it holds: at SIGUSR2, into a file. */
export const measured = {
  flags: ['--expose-gc', '--import', join(__dirname, 'report-memory.mjs')],
  settings: { MEMORY_REPORT: report },
};

export async function memoryOf(pid: number): Promise<Memory> {
  // what requests hold that were answered a moment ago, and sockets that are closing
  await pause(3000);
  rmSync(report, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (;;) {
    await pause(50);
    const written = read();
    if (written) return { ...written, descriptors: readdirSync(`/proc/${pid}/fd`).length };
  }
}

function read(): { heap: number; rss: number } | undefined {
  try {
    return JSON.parse(readFileSync(report, 'utf8')) as { heap: number; rss: number };
  } catch {
    return undefined;
  }
}

export const forget = (): void => rmSync(report, { force: true });
