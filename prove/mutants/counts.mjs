import { writeFileSync } from 'node:fs';

/** Stryker's report in JSON has the text of each failure, and becomes too long for a string: how many ended in which way. */
class Counts {
  onMutationTestReportReady({ files }) {
    const counts = {};
    for (const { status, static: isStatic, testsCompleted } of Object.values(files).flatMap(({ mutants }) => mutants)) {
      // Runs while a module is loaded, and seems to be reached by a test that is skipped: ignored, as the others are.
      const counted = status === 'Survived' && isStatic && !testsCompleted ? 'Ignored' : status;
      counts[counted] = (counts[counted] ?? 0) + 1;
    }
    writeFileSync('.data/mutants.json', JSON.stringify(counts));
  }
}

export const strykerPlugins = [{ kind: 'Reporter', name: 'counts', value: Counts }];
