import { Command } from 'commander';
import { command, GlobalOptions } from '../arguments';
import { CheckResult, CheckService } from '../check/check.service';
import { withDatabase } from '../session';
import { figure, table } from '../terminal/table';
import { answer, Refusal, styled } from '../terminal/terminal';

/** `check` */
export function checkCommand(program: Command): void {
  command(program, 'check', {
    about: 'Compare the stored JSON of leads, the counts of lists, and the words of the search with the data.',
    result: '{documents: {checked, wrong}, lists: …, words: …}, as it was found',
    examples: ['check', 'check --repair'],
  })
    .option('--repair', 'make what is wrong right', false)
    .action((_, self: Command) => check(self.optsWithGlobals()));
}

/** What each part of the result is about, as a person reads it. */
const PARTS = {
  documents: 'documents of leads',
  lists: 'lists',
  words: 'words of industry events',
} satisfies Record<keyof CheckResult, string>;

async function check({ json, repair }: GlobalOptions & { repair: boolean }): Promise<void> {
  const { found, left } = await withDatabase(async (dataSource) => {
    const service = new CheckService(dataSource);
    const found = await service.check(repair);
    // That a repair went through does not say that it repaired.
    return { found, left: repair && wrongIn(found).length > 0 ? await service.check(false) : found };
  });
  await answer(json, found, () =>
    table(
      ['', 'checked', 'wrong'],
      partsOf(found).map(([name, { checked, wrong }]) => [name, figure(checked), wrongText(wrong)]),
    ),
  );
  const wrong = wrongIn(left).join(', ');
  if (wrong === '') return;
  throw new Refusal(
    repair
      ? `still wrong after the repair: ${wrong}; are triggers of these tables disabled?`
      : 'what is stored is not what the data says; check --repair makes it right',
  );
}

const partsOf = (result: CheckResult): [name: string, counts: CheckResult[keyof CheckResult]][] =>
  (Object.keys(PARTS) as (keyof CheckResult)[]).map((part) => [PARTS[part], result[part]]);

/** What is wrong, each part with its count. */
const wrongIn = (result: CheckResult): string[] =>
  partsOf(result)
    .filter(([, { wrong }]) => wrong > 0)
    .map(([name, { wrong }]) => `${figure(wrong)} ${name}`);

const wrongText = (count: number): string => (count > 0 ? styled('red', figure(count)) : '0');
