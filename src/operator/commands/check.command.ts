import type { Command } from 'commander';
import { addCommand } from '../arguments';
import { type CheckResult, CheckService } from '../../schema/check.service';
import type { Session } from '../session';
import { formatCount, formatNumber, formatTable } from '../terminal/table';
import { CommandError, printStatus, applyStyle } from '../terminal/terminal';

/** The command `check`. */
export function checkCommand(program: Command, session: Session): void {
  addCommand(program, 'check', {
    summary:
      'Compare derived data (lead documents, list counts and positions, search texts) with its source, and find ' +
      'functions and triggers that were dropped or disabled.',
    jsonResult:
      '{documents: {checked, wrong}, functions: {…, missing: [name]}, lists: …, ' +
      'triggers: {…, missing: [table.trigger], disabled: [table.trigger]}, words: …}, as found before a repair',
    example: 'check --repair',
  })
    .option('--repair', 'rebuild what is wrong, recreate what was dropped, and re-enable triggers')
    .action(({ repair = false }: { repair?: boolean }) => check(session, repair));
}

/** What is counted in each part of the result, as a noun. */
const PART_NOUNS: Record<string, string> = {
  documents: 'lead document',
  functions: 'function',
  lists: 'list',
  triggers: 'trigger',
  words: 'search text',
};

const nounOf = (part: string): string => PART_NOUNS[part] ?? 'row';

async function check(session: Session, repair: boolean): Promise<void> {
  const { found, left } = await session.withServices(async (services) => {
    const service = services.get(CheckService);
    const found = await service.check(repair);
    // A repair that raises no error may still have changed nothing.
    return { found, left: repair && describeWrong(found).length > 0 ? await service.check(false) : found };
  });
  await session.print(found, () =>
    formatTable(
      ['', 'checked', 'wrong'],
      Object.entries(found).map(([part, { checked, wrong }]) => [
        `${nounOf(part)}s`,
        formatNumber(checked),
        wrong > 0 ? applyStyle('red', formatNumber(wrong)) : '0',
      ]),
    ),
  );
  const wrong = describeWrong(left).join(', ');
  if (repair && wrong === '' && describeWrong(found).length > 0)
    printStatus(`Repaired: ${describeWrong(found).join(', ')}`);
  const { disabled = [], missing = [] } = found.triggers ?? {};
  if (repair && [...disabled, ...missing].some((name) => name.includes('.t60_change'))) printStatus(CHANGES_MISSED);
  if (wrong === '') return;
  throw new CommandError(
    repair
      ? `Still wrong after the repair: ${wrong}. Are triggers of these tables disabled?`
      : `Inconsistent: ${wrong}. Run "check --repair".`,
  );
}

const CHANGES_MISSED =
  'Some changes were not logged. Clients of the change feed get 410 and, like webhooks, start again with a snapshot.';

/** Describes the parts in which something is wrong, each with its count. */
const describeWrong = (result: CheckResult): string[] =>
  Object.entries(result)
    .filter(([, { wrong }]) => wrong > 0)
    .map(([part, { wrong, disabled = [], missing = [] }]) => {
      const names = [...missing, ...disabled].join(', ');
      return `${formatCount(wrong, nounOf(part))}${names ? ` (${names})` : ''}`;
    });
