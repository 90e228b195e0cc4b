// node scripts/language.mjs: names each line of what people read that has a word which plain English does without.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const READ = ['src', 'docs', 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'openapi.json'];
/** What a release said stays as it was. */
const RELEASES = join('docs', 'releases');
/** `nobody`, quoted or before a colon, is an account of Unix. */
const WORDS =
  /\b(told|tells|anew|parted|nobody(?!['`:])|whoever|mend(s|ed|ing)?|heed(s|ed|ing)?|(is|are|was|were) away)\b/i;

const filesIn = (path) =>
  statSync(join(ROOT, path)).isDirectory()
    ? readdirSync(join(ROOT, path)).flatMap((name) => filesIn(join(path, name)))
    : [path];

const faults = READ.flatMap(filesIn)
  .filter((file) => !file.startsWith(RELEASES) && /\.(ts|sql|md|mjs|js|html|css|json|yaml)$/.test(file))
  .flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, at) => {
        const [word] = WORDS.exec(line) ?? [];
        return word ? [`${file}:${at + 1}: “${word}” in: ${line.trim().slice(0, 120)}`] : [];
      }),
  );
for (const fault of faults) console.error(fault);
console.log(faults.length === 0 ? 'No word to replace.' : `${faults.length} lines to reword.`);
process.exitCode = faults.length === 0 ? 0 : 1;
