import { statSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** A mutant is done with at the first failure: small suites find most, and sooner. */
export default class SmallFirst extends Sequencer {
  sort(tests) {
    const size = ({ path }) => statSync(path).size;
    return [...tests].sort((a, b) => size(a) - size(b));
  }
}
