import { Command } from 'commander';
import { OrganizationsService } from '../../access/organizations.service';
import { command, GlobalOptions, organization as organizationId, requireOrganization, text } from '../arguments';
import { escapeInvisible } from '../../datasets/quote';
import { PROGRAM } from '../../server/command-name';
import type { Session } from '../session';
import { figure, table } from '../terminal/table';
import { answer, Refusal } from '../terminal/terminal';

const ID = ['<ID>', 'id of the organization (see organizations list)', organizationId] as const;

/** `organizations …` */
export function organizationsCommand(program: Command, session: Session): void {
  const group = command(program, 'organizations', {
    about: 'Create, list, rename and delete organizations.',
    example: 'organizations create --name "Cobalt Systems"',
  });
  command(group, 'create', {
    about: 'Create an organization.',
    result: '{id, name}',
    example: 'organizations create --name "Cobalt Systems"',
  })
    .requiredOption('--name <NAME>', 'its name, at most 255 characters', text('--name'))
    .action((_, self: Command) => create(session, self.optsWithGlobals()));
  command(group, 'list', {
    about: 'List all organizations, oldest first.',
    result: '[{id, name, keys, leads}], the last two being counts',
    example: 'organizations list',
  }).action((_, self: Command) => list(session, self.optsWithGlobals()));
  command(group, 'rename', {
    about: 'Give an organization another name.',
    result: '{id, name}',
    example: 'organizations rename 1 --name "Cobalt Systems"',
  })
    .argument(...ID)
    .requiredOption('--name <NAME>', 'its new name, at most 255 characters', text('--name'))
    .action((id: number, _, self: Command) => rename(session, id, self.optsWithGlobals()));
  command(group, 'delete', {
    about: 'Delete an organization with its keys and all its data, in batches. The catalogue of industry events stays.',
    result: '{id, name}',
    example: 'organizations delete 1 --confirm "Quarry Labs"',
  })
    .argument(...ID)
    .requiredOption('--confirm <NAME>', 'the name of the organization, so that no other one is deleted')
    .action((id: number, _, self: Command) => remove(session, id, self.optsWithGlobals()));
}

async function rename(session: Session, id: number, { json, name }: GlobalOptions & { name: string }): Promise<void> {
  const renamed = await session.withServices(async (services) => {
    await requireOrganization(services, id);
    return services.get(OrganizationsService).rename(id, name);
  });
  await answer(json, renamed, () => `Organization ${id}: ${escapeInvisible(name)}`);
}

async function remove(
  session: Session,
  id: number,
  { json, confirm }: GlobalOptions & { confirm: string },
): Promise<void> {
  const deleted = await session.withServices(async (services) => {
    await requireOrganization(services, id);
    const organizations = services.get(OrganizationsService);
    const organization = await organizations.find(id);
    if (organization?.name !== confirm)
      throw new Refusal(`organization ${id} has another name (see organizations list)`);
    await organizations.delete(id);
    return organization;
  });
  await answer(json, deleted, () => `Deleted organization ${id}: ${escapeInvisible(deleted.name)}`);
}

async function create(session: Session, { json, name }: GlobalOptions & { name: string }): Promise<void> {
  const created = await session.withServices((services) => services.get(OrganizationsService).create(name));
  const shown = (): string => `Organization ${created.id}: ${escapeInvisible(created.name)}`;
  await answer(json, created, shown, `organization ${created.id} was created`);
}

async function list(session: Session, { json }: GlobalOptions): Promise<void> {
  const all = await session.withServices((services) => services.get(OrganizationsService).list());
  await answer(json, all, () =>
    all.length === 0
      ? `No organization yet. Create one: ${PROGRAM} organizations create --name NAME`
      : table(
          ['id', 'name', 'keys', 'leads'],
          all.map(({ id, name, keys, leads }) => [id, escapeInvisible(name), figure(keys), figure(leads)]),
        ),
  );
}
