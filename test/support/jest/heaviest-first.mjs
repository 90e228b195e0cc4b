import Sequencer from '@jest/test-sequencer';

/** What starts programs, compilers and browsers, imports large files or waits for timeouts: the longest suites, of up to a minute. */
const FIRST = [
  'packages',
  'start',
  'tooling',
  'clients',
  'cli',
  'exchange',
  'limits',
  'database',
  'feed',
  'nest',
  'webhooks',
  'http',
];

/**
 * Starts the long suites first, so that none of them runs alone at the end. Jest itself goes by the times of the last
 * run, which a clean checkout does not have.
 */
export default class HeaviestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.every(({ duration }) => duration !== undefined)) return sorted;
    const rank = ({ path }) => FIRST.indexOf(path.split(/[\\/]/).at(-2)) + 1 || FIRST.length + 1;
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}
