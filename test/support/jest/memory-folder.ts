import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const MEMORY = '/dev/shm';

/** A run takes up to 0.7 GB there, and the memory of its processes besides. */
const REQUIRED_BYTES = 2 * 2 ** 30;
const REQUIRED_MEMORY_BYTES = 6 * 2 ** 30;

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= REQUIRED_BYTES && process.availableMemory() >= REQUIRED_MEMORY_BYTES;
  } catch {
    return false;
  }
}

/**
 * Keeps the temporary files of a run in memory, if there is enough and TMPDIR does not say where else: suites create
 * hundreds of databases of 450 files each, which on a disk takes a seventh of the run.
 * @returns what removes them
 */
export function keepTemporaryFilesInMemory(): () => void {
  if (process.env.TMPDIR || !hasRoom()) return () => undefined;
  const folder = mkdtempSync(join(MEMORY, 'lanyard-test-'));
  // Root's PostgreSQL runs as somebody else, who must be able to pass.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  return () => {
    delete process.env.TMPDIR;
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}
