import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';

/** Ends PostgreSQL, removes the directory, and tries again while PostgreSQL still writes there. `$0` is the directory. */
const SCRIPT = `
  read -r _
  kill -QUIT "$(head -n 1 "$1")"
  for attempt in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$0" && break; sleep 1; done`;

/**
 * Cleans up when this process ends without having done so, such as by SIGKILL. A shell waits for the end of a pipe that only
 * this process holds. On Windows, which has no such shell, nothing happens.
 * @param directory the temporary directory to remove
 * @param cluster the data directory, inside of it, of the PostgreSQL to end
 * @returns ends the shell
 */
export function cleanUpAfterProcess(directory: string, cluster: string): () => void {
  if (process.platform === 'win32') return () => undefined;
  const shell = spawn('sh', ['-c', SCRIPT, directory, join(cluster, 'postmaster.pid')], {
    cwd: '/',
    // A session of its own keeps Ctrl-C in a terminal from reaching it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => undefined); // there is no shell
  shell.stdin.on('error', () => undefined);
  shell.unref();
  (shell.stdin as Socket).unref();
  return () => void shell.kill();
}
