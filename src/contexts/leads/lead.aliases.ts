import de from './column-names/de.json';
import en from './column-names/en.json';
import es from './column-names/es.json';
import fr from './column-names/fr.json';
import it from './column-names/it.json';
import nl from './column-names/nl.json';

/** The languages in order of priority: if a name has different meanings in two of them, the earlier one wins. */
const LANGUAGES: Record<string, string[]>[] = [en, de, fr, es, it, nl];

/** The names that other programs use for the fields of a lead in six languages, by the names of the CSV fields. */
export const LEAD_ALIASES: Record<string, string[]> = {};
for (const names of [...LANGUAGES].reverse()) {
  for (const [field, aliases] of Object.entries(names)) {
    LEAD_ALIASES[field] = [...(LEAD_ALIASES[field] ?? []), ...aliases];
  }
}
