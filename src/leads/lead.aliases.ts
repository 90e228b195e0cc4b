import de from './column-names/de.json';
import en from './column-names/en.json';
import es from './column-names/es.json';
import fr from './column-names/fr.json';
import it from './column-names/it.json';
import nl from './column-names/nl.json';

/** The languages, the first of which wins where a name means one thing in one language and another thing in another. */
const LANGUAGES: Record<string, string[]>[] = [en, de, fr, es, it, nl];

/** The names that other programs give to the fields of a lead in six languages, by the names of the fields of CSV. */
export const LEAD_ALIASES: Record<string, string[]> = {};
for (const names of [...LANGUAGES].reverse()) {
  for (const [field, aliases] of Object.entries(names)) {
    LEAD_ALIASES[field] = [...(LEAD_ALIASES[field] ?? []), ...aliases];
  }
}
