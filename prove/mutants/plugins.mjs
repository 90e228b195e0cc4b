import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';

// Swagger takes the function of a property `type` for a lazy type by its name, which it loses between Stryker's changes.
const isLazyType = (path) =>
  path.isArrowFunctionExpression() && path.parentPath?.isObjectProperty() && path.parentPath.node.key.name === 'type';

const lazyTypes = { shouldIgnore: (path) => (isLazyType(path) ? 'a lazy type' : undefined) };

const REPORT = resolve('.data/mutants.ndjson');

/** A line a mutant, as soon as it is known. Stryker's own report has the text of each failure, some of a megabyte. */
const lines = {
  onMutantTested({ fileName, location, mutatorName, replacement, status }) {
    const mutant = { status, file: fileName, line: location.start.line, mutator: mutatorName, replacement };
    appendFileSync(REPORT, `${JSON.stringify(mutant)}\n`);
  },
};

export const strykerPlugins = [
  { kind: 'Ignore', name: 'lazy-types', value: lazyTypes },
  { kind: 'Reporter', name: 'lines', value: lines },
];
