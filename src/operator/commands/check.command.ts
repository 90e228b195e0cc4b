import { Command } from 'commander';
import { addCommand, GlobalOptions } from '../arguments';
import { type CheckResult, CheckService } from '../check.service';
import type { Session } from '../session';
import { formatNumber, formatTable } from '../terminal/table';
import { printResult, CommandError, printStatus, applyStyle } from '../terminal/terminal';

/** `check` */
export function checkCommand(program: Command, session: Session): void {
  addCommand(program, 'check', {
    summary:
      'Compare derived data (rendered leads, totals and places of lists, words of the search) with its source, and find ' +
      'functions and triggers that were dropped, and triggers that are switched off.',
    jsonResult:
      '{documents: {checked, wrong}, functions: {…, missing: [name]}, lists: …, ' +
      'triggers: {…, missing: [table.trigger], disabled: [table.trigger]}, words: …}, as it was found',
    example: 'check --repair',
  })
    .option('--repair', 'derive again what is wrong, create what was dropped, and switch triggers on', false)
    .action((_, self: Command) => check(session, self.optsWithGlobals()));
}

/** The parts of the result, as a person reads them. */
const PART_NAMES: Record<string, string> = {
  documents: 'documents of leads',
  functions: 'functions',
  lists: 'lists',
  triggers: 'triggers',
  words: 'words of industry events',
};

async function check(session: Session, { json, repair }: GlobalOptions & { repair: boolean }): Promise<void> {
  const { found, left } = await session.withServices(async (services) => {
    const service = services.get(CheckService);
    const found = await service.check(repair);
    // A repair without an error has not necessarily repaired anything.
    return { found, left: repair && describeWrong(found).length > 0 ? await service.check(false) : found };
  });
  await printResult(json, found, () =>
    formatTable(
      ['', 'checked', 'wrong'],
      Object.entries(found).map(([part, { checked, wrong }]) => [
        PART_NAMES[part] ?? part,
        formatNumber(checked),
        wrong > 0 ? applyStyle('red', formatNumber(wrong)) : '0',
      ]),
    ),
  );
  const wrong = describeWrong(left).join(', ');
  if (repair && wrong === '' && describeWrong(found).length > 0)
    printStatus(`Repaired: ${describeWrong(found).join(', ')}`);
  const { disabled = [], missing = [] } = found.triggers ?? {};
  if (repair && [...disabled, ...missing].some((name) => name.includes('.t60_'))) printStatus(CHANGES_MISSED);
  if (wrong === '') return;
  throw new CommandError(
    repair
      ? `still wrong after the repair: ${wrong}; are triggers of these tables disabled?`
      : `inconsistent: ${wrong}; run check --repair`,
  );
}

const CHANGES_MISSED = 'Changes were missed meanwhile: who follows the feed gets 410 and reads anew, webhooks too';

/** The parts with something wrong, each with its count. */
const describeWrong = (result: CheckResult): string[] =>
  Object.entries(result)
    .filter(([, { wrong }]) => wrong > 0)
    .map(([part, { wrong, disabled = [], missing = [] }]) => {
      const names = [...missing, ...disabled].join(', ');
      return `${formatNumber(wrong)} ${PART_NAMES[part] ?? part}${names ? ` (${names})` : ''}`;
    });
