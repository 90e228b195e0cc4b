import { setFlagsFromString } from 'node:v8';

/**
 * Makes V8 create every object in the young generation. Otherwise optimized code creates objects directly in the old
 * generation if those of the same line survived during the start, and each of them keeps its request until the next full
 * collection (docs/decisions/0021).
 */
export const disablePretenuring = (): void => setFlagsFromString('--no-allocation-site-pretenuring');
