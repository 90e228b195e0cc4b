// The rooms that every resource is built on, from the ground up: each may import those before it, and no others.
const floors = [
  'collections/',
  'config\\.ts|errors/',
  'embedded-postgres/|database/',
  'schema/',
  'server/',
  'fields/',
  'api/',
  'access/|rate-limit/|changes/',
  'observability/|openapi/|simulate/',
  'datasets/',
  'csv/',
];
const foundations = floors.join('|');
// The start, webhooks, backups, the demo's records, what an extension is, and the operator's command line use the foundations and `contexts.ts`.
const roofs = 'start/|webhooks/|persons/|backup/|demo/|extensions/|testing/|operator/';
// Every other folder is a bounded context, a new one too.
const contexts = `^src/(?!${foundations}|${roofs})[^/]+/`;

const floorRules = floors.slice(0, -1).map((floor, n) => ({
  name: `floor-${n}-is-below`,
  comment: `${floor} knows nothing that is built on it.`,
  severity: 'error',
  from: { path: `^src/(${floor})` },
  to: { path: `^src/(${floors.slice(n + 1).join('|')})` },
}));

// The steps of an import, each of which gets what the one before gave. docs/architecture.md has them in one picture.
const steps = [
  'datasets/open\\.ts',
  'datasets/import-plan\\.ts|csv/csv-plan\\.ts',
  'datasets/(read-json|record-check)\\.ts|csv/csv-read\\.ts',
  'datasets/stage\\.ts',
  'datasets/check\\.ts',
  'datasets/write\\.ts',
  'datasets/import\\.service\\.ts',
];

const stepRules = steps.slice(0, -1).map((step, n) => ({
  name: `import-step-${n}-calls-nobody-back`,
  comment: `${step} knows none of the steps after it.`,
  severity: 'error',
  from: { path: `^src/(${step})` },
  to: { path: `^src/(${steps.slice(n + 1).join('|')})` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-circle-of-rooms',
      comment: 'No room imports one that imports it, whatever files do so. Folders within a room are one with it.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/[^/]+$' },
      to: { circular: true, path: '^src/[^/]+$' },
    },
    ...floorRules,
    ...stepRules,
    {
      name: 'foundations-know-no-context',
      comment:
        'They serve every resource and import none; the catalog belongs to no organization, and so to the operator.',
      severity: 'error',
      from: { path: `^src/(${foundations}|operator/)` },
      to: { path: contexts, pathNot: '^src/industry-events/catalog\\.service\\.ts$' },
    },
    {
      name: 'errors-know-nobody',
      comment: 'Everything may throw and read errors, so they import nothing of ours.',
      severity: 'error',
      from: { path: '^src/errors/' },
      to: { path: '^src/(?!errors/)' },
    },
    {
      name: 'contexts-meet-through-services',
      comment:
        'A context uses another through its service, its module and what it shows; datasets name the entities of links.',
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: ['\\.dataset\\.ts$', '^src/webhooks/'] },
      to: { path: contexts, pathNot: ['^src/$1/', '\\.(service|module|response)\\.ts$'] },
    },
    {
      name: 'datasets-name-entities',
      severity: 'error',
      from: { path: '^src/([^/]+)/.*\\.dataset\\.ts$' },
      to: { path: contexts, pathNot: ['^src/$1/', '\\.(entity|response)\\.ts$'] },
    },
    {
      name: 'nobody-imports-the-command-line',
      comment: 'The command line stands beside the server, which does not know it; `start/` starts either.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(operator|start)/' },
      to: { path: '^src/operator/' },
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
