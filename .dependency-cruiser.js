/**
 * The groups of folders in `src/`, from the ground up: what each may import. `src/contexts.ts` has a row for each bounded context, and
 * belongs to those who read it.
 */
const mayImport = {
  errors: [],
  data: ['errors', 'config.ts'],
  fields: ['errors', 'data'],
  http: ['errors', 'config.ts', 'data', 'fields'],
  access: ['errors', 'config.ts', 'data', 'fields', 'http'],
  feed: ['errors', 'config.ts', 'data', 'fields', 'http', 'access'],
  observability: ['errors', 'config.ts', 'data', 'http', 'feed'],
  openapi: ['errors', 'config.ts', 'fields', 'http', 'access', 'feed'],
  exchange: ['errors', 'config.ts', 'data', 'fields', 'http', 'access', 'feed'],
  contexts: ['errors', 'data', 'fields', 'http', 'access', 'feed', 'openapi', 'exchange'],
  extensions: ['config.ts', 'contexts.ts', 'data'],
};

const groupRules = Object.entries(mayImport).map(([group, others]) => ({
  name: `${group}-imports-only-what-it-may`,
  comment: `src/${group}/ may import ${others.length > 0 ? others.join(', ') : 'nothing of ours'}.`,
  severity: 'error',
  from: { path: `^src/${group}/` },
  to: {
    path: '^src/',
    pathNot: [group, ...others].map((name) => `^src/${name.replace('.', '\\.')}(/|$)`),
  },
}));

// The steps of an import, each of which gets what the one before gave. docs/architecture.md has them in one picture.
const steps = [
  'datasets/open\\.ts|csv/open\\.ts',
  'datasets/import-plan\\.ts|csv/plan\\.ts',
  'datasets/(read-json|record-check)\\.ts|csv/read\\.ts',
  'datasets/stage\\.ts',
  'datasets/check\\.ts',
  'datasets/write\\.ts',
  'datasets/import\\.service\\.ts',
];

const stepRules = steps.slice(0, -1).map((step, n) => ({
  name: `import-step-${n}-calls-nobody-back`,
  comment: `${step} knows none of the steps after it.`,
  severity: 'error',
  from: { path: `^src/exchange/(${step})` },
  to: { path: `^src/exchange/(${steps.slice(n + 1).join('|')})` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-circle-of-groups',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/[^/]+$' },
      to: { circular: true, path: '^src/[^/]+$' },
    },
    {
      name: 'no-circle-of-folders',
      comment: 'The folders within a group do not import each other in a circle either.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/(contexts|http|data|feed|exchange)/[^/]+$' },
      to: { circular: true, path: '^src/(contexts|http|data|feed|exchange)/[^/]+$' },
    },
    ...groupRules,
    ...stepRules,
    {
      name: 'contexts-meet-through-services',
      comment:
        'A context uses another through its service, its module and what it shows; datasets name the entities of links.',
      severity: 'error',
      from: { path: '^src/contexts/([^/]+)/', pathNot: '\\.dataset\\.ts$' },
      to: { path: '^src/contexts/', pathNot: ['^src/contexts/$1/', '\\.(service|module|response)\\.ts$'] },
    },
    {
      name: 'datasets-name-entities',
      severity: 'error',
      from: { path: '^src/contexts/([^/]+)/.*\\.dataset\\.ts$' },
      to: { path: '^src/contexts/', pathNot: ['^src/contexts/$1/', '\\.(entity|response)\\.ts$'] },
    },
    {
      name: 'command-line-knows-no-context',
      comment: 'The command line serves every context; the catalog belongs to no organization, and so to the operator.',
      severity: 'error',
      from: { path: '^src/operator/' },
      to: { path: '^src/contexts/', pathNot: '^src/contexts/industry-events/catalog\\.service\\.ts$' },
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
