import { isUuid } from '../../fields/text';
import { type CsvField, csvField, resolveReference } from '../../exchange/csv/csv-fields';
import { textValue, trimInvisible } from '../../exchange/csv/csv-values';
import type { ReferencedRecords } from '../../exchange/csv/lookup';
import { quoteShortened } from '../../exchange/datasets/quote';

const LEADS_BY_REF: ReferencedRecords = {
  sql: 'select ref as text, id::text as value, 0 as rank from leads where organization_id = $1 and ref is not null',
  isExact: true,
  expected: 'the ID of a lead, or a ref that only one lead has',
  unknown: (text) => `No lead has the ID or ref ${quoteShortened(text)}.`,
  ambiguous: (text) => `Leads of several sources have the ref ${quoteShortened(text)}. Use the ID of one.`,
};

/** A field of CSV that refers to a lead: by its ID, or by the `ref` by which imports know it. An export has the ID. */
export const leadReference = (name: string): CsvField => ({
  ...csvField(name, textValue, undefined),
  references: LEADS_BY_REF,
  parseInto(draft, cell, context) {
    const text = trimInvisible(cell);
    if (text !== '') draft[name] = isUuid(text) ? text : resolveReference(text, LEADS_BY_REF, context);
  },
});
