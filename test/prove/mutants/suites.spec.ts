import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folders whose suites look for mutants, the quickest first. */
const FOLDERS = ['api', 'search', 'limits', 'http', 'nest', 'database', 'feed', 'webhooks', 'cli'];
/** Suites of these folders that need a build, a browser or much time, or look at nothing that is changed. */
const LEFT_OUT = /^(two-servers|backup|migrations|check|datasets|import|round-trip|seed|status|usage)/;

// One suite of all: Nest and TypeORM are loaded once for a mutant, not once for each file.
for (const folder of FOLDERS) {
  const path = join(__dirname, '../..', folder);
  for (const file of readdirSync(path).filter((name) => name.endsWith('spec.ts') && !LEFT_OUT.test(name))) {
    describe(file, () => {
      // eslint-disable-next-line @typescript-eslint/no-require-imports -- here, so that its tests belong to this describe
      require(join(path, file));
    });
  }
}
