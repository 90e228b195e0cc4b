import type { ImportResult } from './import.service';
import { figure } from './table';

/** What was imported, in one line. */
export function importedText(imported: ImportResult['imported']): string {
  const read = Object.entries(imported).filter(([, count]) => count > 0);
  return `Imported: ${read.map(([section, count]) => `${figure(count)} ${section}`).join(', ') || 'nothing'}`;
}
