import * as fs from 'node:fs';
import { join } from 'node:path';
import { clusterPath, placeCluster } from './cluster';
import { accountFor } from './programs';

/** Files that PostgreSQL writes at a start. A copy must not have them, or all copies would ask for the same port. */
const TRACES = ['postmaster.opts', 'server.log'];

/**
 * Copies the data of a stopped PostgreSQL into a new directory. The copy appears as a whole or not at all; if another
 * process is faster, its copy is kept.
 */
export async function copyCluster(source: string, target: string): Promise<void> {
  const account = accountFor(clusterPath(target));
  fs.mkdirSync(target, { recursive: true, mode: account ? 0o711 : 0o700 });
  await placeCluster(target, async (folder) => {
    const copy = clusterPath(folder);
    await fs.promises.cp(clusterPath(source), copy, { recursive: true, mode: fs.constants.COPYFILE_FICLONE });
    for (const name of TRACES) fs.rmSync(join(copy, name), { force: true });
    if (!account) return;
    const names = fs.readdirSync(copy, { recursive: true, encoding: 'utf8' });
    for (const path of [folder, copy, ...names.map((name) => join(copy, name))])
      fs.lchownSync(path, account.uid, account.gid);
  });
}
