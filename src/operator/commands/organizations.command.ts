import type { Command } from 'commander';
import { OrganizationsService } from '../../access/organizations.service';
import { addCommand, findOrganization, NO_ORGANIZATIONS, parseOrganizationId, parseText } from '../arguments';
import { escapeInvisible } from '../../datasets/quote';
import type { Session } from '../session';
import { formatNumber, formatTable } from '../terminal/table';
import { CommandError } from '../terminal/terminal';

const ID_ARGUMENT = ['<ID>', 'ID of the organization (see "organizations list")', parseOrganizationId('ID')] as const;

/** The command `organizations …`. */
export function organizationsCommand(program: Command, session: Session): void {
  const group = addCommand(program, 'organizations', {
    summary: 'Create, list, rename and delete organizations.',
    example: 'organizations create --name "Cobalt Systems"',
  });
  addCreateAndListCommands(group, session);
  addCommand(group, 'rename', {
    summary: 'Rename an organization.',
    jsonResult: '{id, name}',
    example: 'organizations rename 1 --name "Cobalt Systems"',
  })
    .argument(...ID_ARGUMENT)
    .requiredOption('--name <NAME>', 'new name, at most 255 characters', parseText('--name'))
    .action(async (id: number, { name }: { name: string }) => {
      const renamed = await session.withServices(async (services) => {
        await findOrganization(services, id);
        return services.get(OrganizationsService).rename(id, name);
      });
      await session.print(renamed, () => `Organization ${id}: ${escapeInvisible(name)}`);
    });
  addCommand(group, 'delete', {
    summary: 'Delete an organization with its keys and all its data, in batches. The industry-event catalog stays.',
    jsonResult: '{id, name}',
    example: 'organizations delete 1 --confirm "Quarry Labs"',
  })
    .argument(...ID_ARGUMENT)
    .requiredOption('--confirm <NAME>', 'name of the organization, to confirm that it is the right one')
    .action(async (id: number, { confirm }: { confirm: string }) => {
      const deleted = await session.withServices(async (services) => {
        const organization = await findOrganization(services, id);
        if (organization.name !== confirm) {
          throw new CommandError(`The name does not match organization ${id}. Run "organizations list" for its name.`);
        }
        await services.get(OrganizationsService).delete(id);
        return organization;
      });
      await session.print(deleted, () => `Deleted organization ${id}: ${escapeInvisible(deleted.name)}`);
    });
}

function addCreateAndListCommands(group: Command, session: Session): void {
  addCommand(group, 'create', {
    summary: 'Create an organization.',
    jsonResult: '{id, name}',
    example: 'organizations create --name "Cobalt Systems"',
  })
    .requiredOption('--name <NAME>', 'name of the organization, at most 255 characters', parseText('--name'))
    .action(async ({ name }: { name: string }) => {
      const created = await session.withServices((services) => services.get(OrganizationsService).create(name));
      const { id } = created;
      await session.print(
        created,
        () => `Organization ${id}: ${escapeInvisible(name)}`,
        `Organization ${id} was created.`,
      );
    });
  addCommand(group, 'list', {
    summary: 'List all organizations, oldest first.',
    jsonResult: '[{id, name, keys, leads}], with the number of keys and leads',
    example: 'organizations list',
  }).action(async () => {
    const all = await session.withServices((services) => services.get(OrganizationsService).list());
    await session.print(all, () =>
      all.length === 0
        ? NO_ORGANIZATIONS
        : formatTable(
            ['id', 'name', 'keys', 'leads'],
            all.map(({ id, name, keys, leads }) => [
              id,
              escapeInvisible(name),
              formatNumber(keys),
              formatNumber(leads),
            ]),
          ),
    );
  });
}
