import type { Command } from 'commander';
import { OrganizationsService } from '../../access/organizations.service';
import { addCommand, findOrganization, parseOrganizationId, parseText } from '../arguments';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { CommandError } from '../terminal/terminal';

const ID_ARGUMENT = ['<ID>', 'ID of the organization (see "organizations list")', parseOrganizationId('ID')] as const;

/** The command `organizations …`. */
export function organizationsCommand(program: Command, session: Session): void {
  const group = addCommand(program, 'organizations', {
    summary: SUMMARIES.organizations,
    example: 'organizations create --name "Cobalt Systems"',
  });
  addCommand(group, 'create', {
    summary: 'Create an organization.',
    example: 'organizations create --name "Cobalt Systems"',
  })
    .requiredOption('--name <NAME>', 'name of the organization, at most 255 characters', parseText('--name'))
    .action(({ name }: { name: string }) => session.run((services) => services.get(OrganizationsService).create(name)));
  addCommand(group, 'list', {
    summary: 'List all organizations, oldest first.',
    example: 'organizations list',
  }).action(() => session.run((services) => services.get(OrganizationsService).list()));
  addCommand(group, 'rename', {
    summary: 'Rename an organization.',
    example: 'organizations rename 1 --name "Cobalt Systems"',
  })
    .argument(...ID_ARGUMENT)
    .requiredOption('--name <NAME>', 'new name, at most 255 characters', parseText('--name'))
    .action((id: number, { name }: { name: string }) =>
      session.run(async (services) => {
        await findOrganization(services, id);
        return services.get(OrganizationsService).rename(id, name);
      }),
    );
  addCommand(group, 'delete', {
    summary: 'Delete an organization with its keys and all its data, in batches. The industry-event catalog stays.',
    example: 'organizations delete 1 --confirm "Quarry Labs"',
  })
    .argument(...ID_ARGUMENT)
    .requiredOption('--confirm <NAME>', 'name of the organization, to confirm that it is the right one')
    .action((id: number, { confirm }: { confirm: string }) =>
      session.run(async (services) => {
        const organization = await findOrganization(services, id);
        if (organization.name !== confirm) {
          throw new CommandError(`The name does not match organization ${id}. Run "organizations list" for its name.`);
        }
        await services.get(OrganizationsService).delete(id);
        return organization;
      }),
    );
}
