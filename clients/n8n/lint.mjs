// npm run --prefix clients/n8n lint: checks the nodes with n8n's own linter. It cannot be a dependency of Lanyard, because its
// install script rejects npm. So a pinned version is installed, without scripts, into a folder that is kept.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';

const PLUGIN = 'eslint-plugin-n8n-nodes-base';
const VERSION = '2.0.0';
const here = fileURLToPath(new URL('.', import.meta.url));
const cache = fileURLToPath(new URL(`../../node_modules/.cache/lanyard-n8n-lint-${VERSION}`, import.meta.url));
const folder = join(cache, 'node_modules', PLUGIN);

if (!existsSync(folder)) {
  mkdirSync(cache, { recursive: true });
  const options = ['--prefix', cache, '--ignore-scripts', '--legacy-peer-deps', '--no-save'];
  const { status } = spawnSync('npm', ['install', ...options, `${PLUGIN}@${VERSION}`], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
const plugin = createRequire(import.meta.url)(folder);

const plugins = { 'n8n-nodes-base': plugin };
const eslint = new ESLint({
  cwd: here,
  overrideConfigFile: true,
  overrideConfig: [
    { ignores: ['dist/'] },
    {
      files: ['**/*.ts'],
      languageOptions: { parser: tseslint.parser },
      plugins,
      rules: {
        ...plugin.configs.nodes.rules,
        ...plugin.configs.credentials.rules,
        // Lanyard's documentation has no public address yet.
        'n8n-nodes-base/cred-class-field-documentation-url-missing': 'off',
        // The rule takes the name of the field `idempotencyKey` for that of a secret.
        'n8n-nodes-base/cred-class-field-type-options-password-missing': 'off',
        // n8n's classes of errors are code of n8n-workflow, without which these nodes are built and tested.
        'n8n-nodes-base/node-execute-block-wrong-error-thrown': 'off',
      },
    },
    {
      files: ['package.json'],
      languageOptions: { parser: tseslint.parser, parserOptions: { extraFileExtensions: ['.json'] } },
      plugins,
      rules: plugin.configs.community.rules,
    },
  ],
});
const results = await eslint.lintFiles(['credentials', 'nodes', 'package.json']);
const { format } = await eslint.loadFormatter('stylish');
process.stdout.write(await format(results));
process.exitCode = results.some(({ errorCount, warningCount }) => errorCount + warningCount > 0) ? 1 : 0;
