import { Command } from 'commander';
import { command, GlobalOptions } from '../arguments';
import { type CheckResult, CheckService } from '../check.service';
import type { Session } from '../session';
import { figure, table } from '../terminal/table';
import { answer, Refusal, say, styled } from '../terminal/terminal';

/** `check` */
export function checkCommand(program: Command, session: Session): void {
  command(program, 'check', {
    about:
      'Compare derived data (rendered leads, totals and places of lists, words of the search) with its source, and find ' +
      'functions and triggers that were dropped, and triggers that are switched off.',
    result:
      '{documents: {checked, wrong}, functions: {…, missing: [name]}, lists: …, ' +
      'triggers: {…, missing: [table.trigger], off: [table.trigger]}, words: …}, as it was found',
    example: 'check --repair',
  })
    .option('--repair', 'derive again what is wrong, create what was dropped, and switch triggers on', false)
    .action((_, self: Command) => check(session, self.optsWithGlobals()));
}

/** The parts of the result, as a person reads them. */
const PARTS: Record<string, string> = {
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
    return { found, left: repair && wrongIn(found).length > 0 ? await service.check(false) : found };
  });
  await answer(json, found, () =>
    table(
      ['', 'checked', 'wrong'],
      Object.entries(found).map(([part, { checked, wrong }]) => [
        PARTS[part] ?? part,
        figure(checked),
        wrong > 0 ? styled('red', figure(wrong)) : '0',
      ]),
    ),
  );
  const wrong = wrongIn(left).join(', ');
  if (repair && wrong === '' && wrongIn(found).length > 0) say(`Repaired: ${wrongIn(found).join(', ')}`);
  const { off = [], missing = [] } = found.triggers ?? {};
  if (repair && [...off, ...missing].some((name) => name.includes('.t60_'))) say(MISSED);
  if (wrong === '') return;
  throw new Refusal(
    repair
      ? `still wrong after the repair: ${wrong}; are triggers of these tables disabled?`
      : `inconsistent: ${wrong}; run check --repair`,
  );
}

const MISSED = 'Changes were missed meanwhile: who follows the feed gets 410 and reads anew, webhooks too';

/** The parts with something wrong, each with its count. */
const wrongIn = (result: CheckResult): string[] =>
  Object.entries(result)
    .filter(([, { wrong }]) => wrong > 0)
    .map(([part, { wrong, off = [], missing = [] }]) => {
      const names = [...missing, ...off].join(', ');
      return `${figure(wrong)} ${PARTS[part] ?? part}${names ? ` (${names})` : ''}`;
    });
