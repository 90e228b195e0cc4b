import { Command } from 'commander';
import { OrganizationsService } from '../../access/organizations.service';
import { command, GlobalOptions, text } from '../arguments';
import { visible } from '../../datasets/quoted';
import { PROGRAM } from '../../program';
import { withDatabase } from '../session';
import { figure, table } from '../terminal/table';
import { answer } from '../terminal/terminal';

/** `organizations …` */
export function organizationsCommand(program: Command): void {
  const group = command(program, 'organizations', {
    about: 'Create and list organizations.',
    example: 'organizations create --name "Cobalt Systems"',
  });
  command(group, 'create', {
    about: 'Create an organization.',
    result: '{id, name}',
    example: 'organizations create --name "Cobalt Systems"',
  })
    .requiredOption('--name <NAME>', 'its name, at most 255 characters', text('--name'))
    .action((_, self: Command) => create(self.optsWithGlobals()));
  command(group, 'list', {
    about: 'List all organizations, oldest first.',
    result: '[{id, name, keys, leads}], the last two being counts',
    example: 'organizations list',
  }).action((_, self: Command) => list(self.optsWithGlobals()));
}

async function create({ json, name }: GlobalOptions & { name: string }): Promise<void> {
  const created = await withDatabase((dataSource) => new OrganizationsService(dataSource.manager).create(name));
  const shown = (): string => `Organization ${created.id}: ${visible(created.name)}`;
  await answer(json, created, shown, `organization ${created.id} was created`);
}

async function list({ json }: GlobalOptions): Promise<void> {
  const all = await withDatabase((dataSource) => new OrganizationsService(dataSource.manager).list());
  await answer(json, all, () =>
    all.length === 0
      ? `No organization yet. Create one: ${PROGRAM} organizations create --name NAME`
      : table(
          ['id', 'name', 'keys', 'leads'],
          all.map(({ id, name, keys, leads }) => [id, visible(name), figure(keys), figure(leads)]),
        ),
  );
}
