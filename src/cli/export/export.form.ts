import { LAST_SECTION, SectionName, SECTIONS } from '../import/sections';
import type { ExportedRecord } from './export.service';

/** Records, a section. */
export type Counts = Record<SectionName, number>;

/** How records become text: what stands before each, and at the end. */
export interface Form {
  record(exported: ExportedRecord, written: Counts, before: SectionName | undefined): string;
  end(last: SectionName | undefined): string;
}

export const NDJSON: Form = {
  record: ({ section, record }) => `{"section":"${section}","record":${record}}\n`,
  end: () => '',
};

/** Opens the sections from after one up to another; those between have no record. */
const opened = (before: SectionName | undefined, last: SectionName): string =>
  SECTIONS.slice(before ? SECTIONS.indexOf(before) + 1 : 0, SECTIONS.indexOf(last) + 1)
    .map((section) => `${section === SECTIONS[0] ? '{' : '],\n'}"${section}":[`)
    .join('');

export const OBJECT: Form = {
  record: ({ section, record }, written, before) =>
    `${section === before ? '' : opened(before, section)}${written[section] > 0 ? ',' : ''}\n${record}`,
  end: (last) => `${opened(last, LAST_SECTION)}]}\n`,
};
