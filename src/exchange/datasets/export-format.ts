/** How exported records become text. */
export interface ExportFormat {
  /**
   * The text before the records of a section.
   * @param index of the section, zero-based
   */
  beginSection(section: string, index: number): string;
  /** @param index of the record within its section, zero-based */
  record(json: string, section: string, index: number): string;
  /** The text after all sections. */
  end: string;
}

/** A line for each record. */
export const NDJSON_FORMAT: ExportFormat = {
  beginSection: () => '',
  record: (json, section) => `{"section":"${section}","record":${json}}\n`,
  end: '',
};

/** One JSON object with an array for each section. */
export const OBJECT_FORMAT: ExportFormat = {
  beginSection: (section, index) => `${index > 0 ? '],\n' : '{'}"${section}":[`,
  record: (json, _section, index) => `${index > 0 ? ',' : ''}\n${json}`,
  end: ']}\n',
};
