import { writeFileSync } from 'node:fs';

/** Stryker's report in JSON has the text of each failure, and becomes too long for a string: how many ended in which way. */
class Counts {
  onMutationTestReportReady({ files }) {
    const statuses = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
    const counts = {};
    for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
    writeFileSync('.data/mutants.json', JSON.stringify(counts));
  }
}

export const strykerPlugins = [{ kind: 'Reporter', name: 'counts', value: Counts }];
