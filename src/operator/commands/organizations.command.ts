import { Command } from 'commander';
import { OrganizationsService } from '../../access/organizations.service';
import { addCommand, GlobalOptions, parseOrganizationId, findOrganization, parseText } from '../arguments';
import { escapeInvisible } from '../../datasets/quote';
import { COMMAND_NAME } from '../command-name';
import type { Session } from '../session';
import { formatNumber, formatTable } from '../terminal/table';
import { printResult, CommandError } from '../terminal/terminal';

const ID_ARGUMENT = ['<ID>', 'ID of the organization (see "organizations list")', parseOrganizationId('ID')] as const;

/** The command `organizations …`. */
export function organizationsCommand(program: Command, session: Session): void {
  const group = addCommand(program, 'organizations', {
    summary: 'Create, list, rename and delete organizations.',
    example: 'organizations create --name "Cobalt Systems"',
  });
  addCommand(group, 'create', {
    summary: 'Create an organization.',
    jsonResult: '{id, name}',
    example: 'organizations create --name "Cobalt Systems"',
  })
    .requiredOption('--name <NAME>', 'name of the organization, at most 255 characters', parseText('--name'))
    .action((_, self: Command) => create(session, self.optsWithGlobals()));
  addCommand(group, 'list', {
    summary: 'List all organizations, oldest first.',
    jsonResult: '[{id, name, keys, leads}], with the number of keys and leads',
    example: 'organizations list',
  }).action((_, self: Command) => list(session, self.optsWithGlobals()));
  addCommand(group, 'rename', {
    summary: 'Rename an organization.',
    jsonResult: '{id, name}',
    example: 'organizations rename 1 --name "Cobalt Systems"',
  })
    .argument(...ID_ARGUMENT)
    .requiredOption('--name <NAME>', 'new name, at most 255 characters', parseText('--name'))
    .action((id: number, _, self: Command) => rename(session, id, self.optsWithGlobals()));
  addCommand(group, 'delete', {
    summary: 'Delete an organization with its keys and all its data, in batches. The industry-event catalog stays.',
    jsonResult: '{id, name}',
    example: 'organizations delete 1 --confirm "Quarry Labs"',
  })
    .argument(...ID_ARGUMENT)
    .requiredOption('--confirm <NAME>', 'name of the organization, to confirm that it is the right one')
    .action((id: number, _, self: Command) => remove(session, id, self.optsWithGlobals()));
}

async function rename(session: Session, id: number, { json, name }: GlobalOptions & { name: string }): Promise<void> {
  const renamed = await session.withServices(async (services) => {
    await findOrganization(services, id);
    return services.get(OrganizationsService).rename(id, name);
  });
  await printResult(json, renamed, () => `Organization ${id}: ${escapeInvisible(name)}`);
}

async function remove(
  session: Session,
  id: number,
  { json, confirm }: GlobalOptions & { confirm: string },
): Promise<void> {
  const deleted = await session.withServices(async (services) => {
    const organization = await findOrganization(services, id);
    if (organization.name !== confirm) {
      throw new CommandError(`The name does not match organization ${id}. Run "organizations list" for its name.`);
    }
    await services.get(OrganizationsService).delete(id);
    return organization;
  });
  await printResult(json, deleted, () => `Deleted organization ${id}: ${escapeInvisible(deleted.name)}`);
}

async function create(session: Session, { json, name }: GlobalOptions & { name: string }): Promise<void> {
  const created = await session.withServices((services) => services.get(OrganizationsService).create(name));
  const shown = (): string => `Organization ${created.id}: ${escapeInvisible(created.name)}`;
  await printResult(json, created, shown, `Organization ${created.id} was created.`);
}

async function list(session: Session, { json }: GlobalOptions): Promise<void> {
  const all = await session.withServices((services) => services.get(OrganizationsService).list());
  await printResult(json, all, () =>
    all.length === 0
      ? `There are no organizations yet. To create one: ${COMMAND_NAME} organizations create --name NAME`
      : formatTable(
          ['id', 'name', 'keys', 'leads'],
          all.map(({ id, name, keys, leads }) => [id, escapeInvisible(name), formatNumber(keys), formatNumber(leads)]),
        ),
  );
}
