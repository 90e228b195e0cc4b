// Every folder is a bounded context, a new one too, but these.
const foundations =
  'access|api-schema|database|datasets|embedded-postgres|health|http|observability|openapi|operator|rate-limit|redis|server|simulate';
// These follow the contexts, and tell others of them: they know how each record is shown.
const followers = 'changes|webhooks';
const contexts = `^src/(?!(${foundations}|${followers}|cli)/)[^/]+/`;

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'foundations-know-no-context',
      comment: 'They serve every resource and import none.',
      severity: 'error',
      from: { path: `^src/(${foundations}|cli)/` },
      to: { path: contexts },
    },
    {
      name: 'database-knows-no-request',
      severity: 'error',
      from: { path: '^src/database/' },
      to: { path: '^src/(access|api-schema|http|rate-limit|redis|server)/' },
    },
    {
      name: 'contexts-meet-through-services',
      comment: 'A context uses another through its service and module only; datasets name the entities of links.',
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: ['\\.dataset\\.ts$', `^src/(${followers})/`] },
      to: { path: contexts, pathNot: ['^src/$1/', '\\.(service|module)\\.ts$'] },
    },
    {
      name: 'datasets-name-entities',
      severity: 'error',
      from: { path: '^src/([^/]+)/.*\\.dataset\\.ts$' },
      to: { path: contexts, pathNot: ['^src/$1/', '\\.entity\\.ts$'] },
    },
    {
      name: 'nobody-imports-the-command-line',
      comment: 'The command line stands beside the server, which does not know it.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cli/' },
      to: { path: '^src/cli/' },
    },
    { name: 'no-test-in-src', severity: 'error', from: { path: '^src/' }, to: { path: '^test/' } },
    { name: 'no-unknown', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-dev-dependency',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm-peer'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['require', 'node', 'default', 'types'] },
  },
};
