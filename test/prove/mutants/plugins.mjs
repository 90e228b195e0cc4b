import { writeFileSync } from 'node:fs';

// Swagger takes the function of a property `type` for a lazy type by its name, which it loses between Stryker's changes.
function lazyType({ node, parentPath }) {
  return node.type === 'ArrowFunctionExpression' && parentPath?.node.key?.name === 'type' ? 'a lazy type' : undefined;
}

/** Stryker's own report in JSON has the text of each failure, and becomes too long for a string. */
const counts = {
  onMutationTestReportReady: (_, { systemUnderTestMetrics }) =>
    writeFileSync('coverage/mutants.json', JSON.stringify(systemUnderTestMetrics.metrics)),
};

export const strykerPlugins = [
  { kind: 'Ignore', name: 'lazy-types', value: { shouldIgnore: lazyType } },
  { kind: 'Reporter', name: 'counts', value: counts },
];
