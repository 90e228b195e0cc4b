import { EXPLAINED, type Explained } from './explained';

type Place = Record<'line' | 'column', number>;

interface Found {
  mutatorName: string;
  replacement?: string;
  status: string;
  /** the message of the test that caught it */
  statusReason?: string;
  location: { start: Place; end: Place };
}

/** What Stryker writes, as far as it is read here. */
export interface Report {
  files: Record<string, { source: string; mutants: Found[] }>;
}

/** A change of the source. */
export interface Mutant {
  file: string;
  line: number;
  lastLine: number;
  /** Stryker's name for the kind of change */
  mutator: string;
  /** what was changed, white space as one blank */
  code: string;
  replacement: string;
  status: string;
  /** whether it was caught because it made a test too slow, as it may on a busy machine */
  isSlow: boolean;
}

const onOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

function between(source: string, start: Place, end: Place): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  lines.push((lines.pop() ?? '').slice(0, end.column - 1));
  return lines.join('\n').slice(start.column - 1);
}

/** All mutants but those of kinds that are left out. */
const mutantsOf = (report: Report): Mutant[] =>
  Object.entries(report.files).flatMap(([file, { source, mutants }]) =>
    mutants
      .filter(({ status }) => status !== 'Ignored')
      .map(({ mutatorName: mutator, replacement = '', status, statusReason, location: { start, end } }) => {
        const code = onOneLine(between(source, start, end));
        return {
          file,
          line: start.line,
          lastLine: end.line,
          mutator,
          code,
          replacement: onOneLine(replacement),
          status,
          isSlow: statusReason?.includes('Exceeded timeout') ?? false,
        };
      }),
  );

const survived = ({ status }: Mutant): boolean => status === 'Survived' || status === 'NoCoverage';

const explains = (explained: Explained, mutant: Mutant): boolean =>
  explained.file === mutant.file &&
  explained.code === mutant.code &&
  (explained.to === undefined || [explained.to].flat().includes(mutant.replacement));

const isExplained = (mutant: Mutant): boolean => EXPLAINED.some((explained) => explains(explained, mutant));

/** A report in which the mutants of another, newer one are as that one has them. */
export function updated(report: Report, newer: Report): Report {
  const keyOf = ({ mutatorName, replacement, location }: Found): string =>
    JSON.stringify([mutatorName, replacement, location]);
  const files = Object.entries(newer.files).map(([file, found]): [string, Report['files'][string]] => {
    const known = report.files[file]?.mutants ?? [];
    const fresh = found.mutants.map((mutant): [string, Found] => [keyOf(mutant), mutant]);
    const all = new Map([...known.map((mutant): [string, Found] => [keyOf(mutant), mutant]), ...fresh]);
    return [file, { ...found, mutants: [...all.values()] }];
  });
  return { files: { ...report.files, ...Object.fromEntries(files) } };
}

/** Survivors that nobody has accounted for. */
export const unexplained = (report: Report): Mutant[] =>
  mutantsOf(report).filter((mutant) => survived(mutant) && !isExplained(mutant));

/** Explanations of nothing: their mutants are caught by now, or their code is gone. */
export const unneeded = (report: Report): Explained[] =>
  EXPLAINED.filter(
    (explained) =>
      explained.file in report.files &&
      !mutantsOf(report).some((mutant) => (survived(mutant) || mutant.isSlow) && explains(explained, mutant)),
  );

function figures(mutants: Mutant[]): string {
  const count = (fits: (mutant: Mutant) => boolean): number => mutants.filter(fits).length;
  const timedOut = count(({ status }) => status === 'Timeout');
  const broken = count(({ status }) => status === 'RuntimeError');
  const killed = count(({ status }) => status === 'Killed');
  const explained = count((mutant) => survived(mutant) && isExplained(mutant));
  const rest = mutants.length - timedOut - broken - killed - explained;
  return `${mutants.length} mutants: ${killed} killed, ${timedOut} timed out (killed), ${broken} did not start (killed), ${explained} explained, ${rest} unexplained`;
}

/** The figures of each file, and of all. */
export function tally(report: Report): { perFile: [string, string][]; sum: string } {
  const mutants = mutantsOf(report);
  const perFile = Object.keys(report.files).map((file): [string, string] => [
    file,
    figures(mutants.filter((mutant) => mutant.file === file)),
  ]);
  return { perFile, sum: figures(mutants) };
}
