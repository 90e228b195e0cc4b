import Sequencer from '@jest/test-sequencer';

/** What starts programs, compilers and browsers, or waits for timeouts: the longest suites, which take a minute. */
const FIRST = ['start', 'tooling', 'clients', 'http'];

/**
 * Starts the long suites first, so that none of them runs alone at the end. Jest itself goes by the times of the last
 * run, which a clean checkout does not have.
 */
export default class HeaviestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => FIRST.indexOf(path.split(/[\\/]/).at(-2)) + 1 || FIRST.length + 1;
    return super.sort(tests).sort((a, b) => rank(a) - rank(b));
  }
}
