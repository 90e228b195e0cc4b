// Which measured figures are older than the code that they are about. A figure names the commit that was measured and the paths of
// the code: it is older if a later commit has changed these. `npm run figures` compares with the last commit and keeps the result in
// docs/figures/ages.json, with that commit. So a commit does not make the pages wrong: they say with which commit they were compared.
import { spawnSync } from 'node:child_process';

/** A measured figure: `{commit, code}`, `code` being paths from the root. */
const keyOf = ({ commit, code }) => [commit, ...code].join(' ');

/**
 * Compares figures with the code as of a commit.
 * @param root a directory with the whole history
 * @returns `{comparedWith, older}`, the older figures by their keys; undefined if the history is not there, as in a shallow clone
 */
export function agesOf(figures, root, commit = 'HEAD') {
  const git = (...args) => spawnSync('git', ['-C', root, ...args], { encoding: 'utf8' });
  const nameOf = (name) => git('rev-parse', '--quiet', '--verify', `${name}^{commit}`).stdout?.trim();
  if (git('rev-parse', '--is-shallow-repository').stdout?.trim() !== 'false' || !nameOf(commit)) return undefined;
  const isOlder = ({ commit: measured, code }) =>
    // A commit that is not in the history was measured before a rewriting of it.
    !nameOf(measured) || git('log', '-1', '--format=%h', `${measured}..${commit}`, '--', ...code).stdout !== '';
  const older = figures.filter(isOlder).map(keyOf);
  return { comparedWith: nameOf(commit), older: [...new Set(older)].sort() };
}

export const isOlder = (ages, figure) => ages.older.includes(keyOf(figure));
