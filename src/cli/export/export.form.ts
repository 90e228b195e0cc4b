import { type SectionName, SECTIONS } from '../import/sections';

/** How records become text: what stands before a section and at the end. */
export interface Form {
  begin(section: SectionName): string;
  /** @param nth of its section, from 0 */
  record(record: string, section: SectionName, nth: number): string;
  end: string;
}

export const NDJSON: Form = {
  begin: () => '',
  record: (record, section) => `{"section":"${section}","record":${record}}\n`,
  end: '',
};

export const OBJECT: Form = {
  begin: (section) => `${section === SECTIONS[0] ? '{' : '],\n'}"${section}":[`,
  record: (record, _, nth) => `${nth > 0 ? ',' : ''}\n${record}`,
  end: ']}\n',
};
