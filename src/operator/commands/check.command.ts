import type { Command } from 'commander';
import { addCommand } from '../arguments';
import { type CheckResult, CheckService } from '../../data/schema/check.service';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { CommandError } from '../terminal/terminal';

/** The command `check`. */
export function checkCommand(program: Command, session: Session): void {
  addCommand(program, 'check', {
    summary: SUMMARIES.check,
    example: 'check --repair',
  })
    .option('--repair', 'rebuild what is wrong, recreate what was dropped, and re-enable triggers')
    .action(({ repair = false }: { repair?: boolean }) => check(session, repair));
}

async function check(session: Session, repair: boolean): Promise<void> {
  const { found, left } = await session.withServices(async (services) => {
    const service = services.get(CheckService);
    const found = await service.check(repair);
    // A repair that raises no error may still have changed nothing.
    return { found, left: repair ? await service.check(false) : found };
  });
  await session.print(found);
  const wrong = wrongParts(left);
  if (wrong === '') return;
  throw new CommandError(
    repair
      ? `Still wrong after the repair: ${wrong}. Are triggers of these tables disabled?`
      : `Inconsistent: ${wrong}. Run "check --repair".`,
  );
}

/** The parts in which something is wrong. */
const wrongParts = (result: CheckResult): string =>
  Object.keys(result)
    .filter((part) => result[part]!.wrong > 0)
    .join(', ');
