const contexts = '^src/(events|leads|lead-activity-events|activations|tag-groups|industry-events)/';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'foundations-know-no-context',
      comment: 'http, access, rate-limit and database serve every resource and import none.',
      severity: 'error',
      from: { path: '^src/(http|access|rate-limit|database)/' },
      to: { path: contexts },
    },
    {
      name: 'contexts-meet-through-services',
      comment: 'A context uses another through its service and module only.',
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: '^src/operator/' },
      to: { path: contexts, pathNot: ['^src/$1/', '\\.(service|module)\\.ts$'] },
    },
    {
      name: 'nobody-imports-the-operator',
      comment: 'The command line stands beside the API; only the program and its welcome know both.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/operator/' },
      to: { path: '^src/operator/' },
    },
    { name: 'no-test-in-src', severity: 'error', from: { path: '^src/' }, to: { path: '^test/' } },
    { name: 'no-unknown', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-dev-dependency',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['require', 'node', 'default', 'types'] },
  },
};
