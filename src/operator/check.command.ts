import { Command } from 'commander';
import { command, GlobalOptions } from './arguments';
import { CheckService } from './check.service';
import { withDatabase } from './session';
import { figure, table } from './table';
import { answer, Refusal, styled } from './terminal';

/** `check` */
export function checkCommand(program: Command): void {
  command(program, 'check', {
    about:
      'Compare the stored JSON of leads, the totals and places of lists, and the words of the search with the data.',
    result: '{documents: {checked, wrong}, lists: …, words: …}, as it was found',
    examples: ['check', 'check --repair'],
  })
    .option('--repair', 'make what is wrong right', false)
    .action((_, self: Command) => check(self.optsWithGlobals()));
}

async function check({ json, repair }: GlobalOptions & { repair: boolean }): Promise<void> {
  const result = await withDatabase((dataSource) => new CheckService(dataSource).check(repair));
  const { documents, lists, words } = result;
  await answer(json, result, () =>
    table(
      ['', 'checked', 'wrong'],
      [
        ['documents of leads', figure(documents.checked), wrongText(documents.wrong)],
        ['lists', figure(lists.checked), wrongText(lists.wrong)],
        ['words of industry events', figure(words.checked), wrongText(words.wrong)],
      ],
    ),
  );
  if (documents.wrong + lists.wrong + words.wrong > 0 && !repair) {
    throw new Refusal('what is stored is not what the data says; check --repair makes it right');
  }
}

const wrongText = (count: number): string => (count > 0 ? styled('red', figure(count)) : '0');
