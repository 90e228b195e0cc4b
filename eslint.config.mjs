import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

const lines = (max) => ['error', { max, skipBlankLines: true, skipComments: true }];

/** Where files and functions may be longer. */
const longer = [
  // It is generated from openapi.json.
  { files: ['clients/typescript/src/schema.ts'], rules: { 'max-lines': 'off' } },
  // The first migration makes all tables, and is never edited once it is released.
  {
    files: ['src/data/schema/migrations/1767225600000-initial-schema.ts'],
    rules: { 'max-lines': lines(550) },
  },
  // The function that is given to `describe` holds a whole suite, which is read test by test.
  { files: ['test/**/*spec.ts'], rules: { 'max-lines': lines(500), 'max-lines-per-function': 'off' } },
  // One literal has a record of each kind, linked with the others.
  { files: ['test/support/builders.ts'], rules: { 'max-lines-per-function': lines(130) } },
];

export default tseslint.config(
  { ignores: ['**/dist/', 'coverage/', 'node_modules/', '.data', 'docs/api/'] },
  eslint.configs.recommended,
  ...tseslint.configs.recommended,
  {
    rules: {
      'max-lines': lines(300),
      'max-lines-per-function': lines(50),
      'no-restricted-syntax': [
        'error',
        {
          selector: 'SpreadElement > :matches(ObjectExpression, ArrayExpression)',
          message: 'Write the properties or entries themselves, without the spread.',
        },
      ],
    },
  },
  ...longer,
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      // The types of Express are extended in its global namespace, which is found wherever a package manager puts them.
      '@typescript-eslint/no-namespace': ['error', { allowDeclarations: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      eqeqeq: ['error', 'always'],
      'no-console': 'error',
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['@nestjs/*/*'],
              message: "Nest's internals are imported by src/http/pipeline/nest-internals.ts.",
            },
          ],
        },
      ],
    },
  },
  {
    // Its own tsconfig.json extends that of the installed package.
    files: ['test/extension/**/*.ts'],
    languageOptions: { parserOptions: { projectService: false, project: './tsconfig.json' } },
  },
  { files: ['src/http/pipeline/nest-internals.ts'], rules: { 'no-restricted-imports': 'off' } },
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        fetch: 'readonly',
        URL: 'readonly',
        URLSearchParams: 'readonly',
        Buffer: 'readonly',
        AbortSignal: 'readonly',
        setTimeout: 'readonly',
      },
    },
  },
  { files: ['*.js'], languageOptions: { globals: { module: 'readonly', process: 'readonly' } } },
);
