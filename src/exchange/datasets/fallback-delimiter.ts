/** The delimiters that are recognized without an option. */
export const DELIMITERS = [',', ';', '\t', '|'];

/** The delimiter that a line has most of outside quotes; a comma if it has none, or as many of several. */
export function mostFrequentDelimiter(line: string): string {
  const unquoted = line.replace(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length - 1);
  const highest = Math.max(...counts);
  const [delimiter = ',', ...others] = DELIMITERS.filter((_, index) => counts[index] === highest);
  return others.length > 0 ? ',' : delimiter;
}

/** Whether a line that is not JSON may be the header of a CSV file. */
export const looksLikeCsv = (line: string): boolean => line.includes(mostFrequentDelimiter(line));
