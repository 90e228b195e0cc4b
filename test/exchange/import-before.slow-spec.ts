import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tenant } from '../support/lanyard';
import { install, type Installation } from '../support/operator';

describe('import --before', () => {
  let folder: string;
  let installation: Installation;
  let tenant: Tenant;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lanyard-before-'));
    installation = await install();
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => void (tenant = await installation.server.tenant()));

  const of = (...args: string[]): string[] => [...args, '--organization', String(tenant.organizationId)];
  const file = (content: object | string): string => {
    const path = join(folder, `${randomUUID()}.json`);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const importing = (content: object | string, ...options: string[]): Promise<{ importId: string }> =>
    installation.operator.json(of('import', file(content), ...options));
  const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
  const leadsOf = (leadIds: string[]) => leadIds.map((id, n) => ({ id, firstName: 'Ada', lastName: `Lead ${n}` }));
  const exported = (): Promise<Record<string, Record<string, unknown>[]>> => installation.operator.json(of('export'));
  const total = async (path: string): Promise<number> =>
    ((await tenant.api.get(path, { limit: 1 }).expect(200)).body as { results: { total: number } }).results.total;
  const beforePath = (): string => join(folder, `${randomUUID()}.ndjson`);

  it('keeps the records that it changes, and an undo brings them back', async () => {
    const [changed = '', same = '', created = ''] = ids(3);
    const [group = '', option = '', second = ''] = ids(3);
    const tagGroup = {
      id: group,
      name: 'Interest',
      status: 'PUBLISHED',
      allowsMultipleSelection: true,
      displayOrder: 1,
      tagOptions: [option, second].map((id, n) => ({ id, displayOrder: n, value: `Value ${n}` })),
    };
    const tagged = { id: randomUUID(), tags: [{ tagOptionId: second }] };
    await importing({ tagGroups: [tagGroup], leads: [...leadsOf([changed, same]), tagged] });
    const before = await exported();
    const path = beforePath();
    const result = await importing(
      {
        // An option that is gone takes the tags of a lead that is not in the file.
        tagGroups: [{ ...tagGroup, name: 'Changed', tagOptions: tagGroup.tagOptions.slice(0, 1) }],
        leads: [
          { id: changed, firstName: 'Eve', email: 'eve@lead.example' },
          leadsOf([changed, same])[1],
          { id: created },
        ],
      },
      '--before',
      path,
    );
    expect(result).toMatchObject({ before: path, outcomes: { leads: { created: 1, updated: 1, unchanged: 1 } } });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    const sections = lines.map((line) => JSON.parse(line) as { section: string; record: { id: string } });
    expect(sections.map(({ section, record }) => [section, record.id]).sort()).toEqual(
      [
        ['tagGroups', group],
        ['leads', changed],
        ['leads', tagged.id],
      ].sort(),
    );
    await installation.operator.json(of('imports', 'undo', result.importId));
    expect(await exported()).toEqual(before);
  });

  it('does so for CSV, and for fields that GET does not show', async () => {
    const [lead = ''] = ids(1);
    await importing({ leads: [{ id: lead, firstName: 'Ada', ref: 'A-1' }] });
    const before = await exported();
    const path = beforePath();
    const csv = file(`id,firstName,source\n${lead},Eve,Expo\n`);
    const { stdout } = await installation.operator.run(
      of('import', csv, '--csv', 'leads', '--overwrite', '--before', path),
    );
    expect(stdout).toContain(`Saved 1 record as before the import to ${path}.\n`);
    const importId = /Import ID: (\S+)/.exec(stdout)?.[1] ?? '';
    await installation.operator.json(of('imports', 'undo', importId));
    expect(await exported()).toEqual(before);
  });

  it('does not overwrite a file, and imports nothing then', async () => {
    const path = file('something else');
    const outcome = await installation.operator.run(of('import', file({ leads: leadsOf(ids(1)) }), '--before', path));
    expect(outcome).toEqual({
      status: 1,
      stdout: '',
      stderr: `Cannot write ${path}: the file exists already. Nothing was imported.\n`,
    });
    expect(readFileSync(path, 'utf8')).toBe('something else');
    expect(await total('/leads')).toBe(0);
  });

  it('imports nothing if the file cannot be written', async () => {
    const [lead = ''] = ids(1);
    await importing({ leads: leadsOf([lead]) });
    const content = file({ leads: [{ id: lead, firstName: 'Eve' }] });
    const path = join(folder, 'no', 'such', 'folder.ndjson');
    const outcome = await installation.operator.run(of('import', content, '--before', path));
    expect(outcome).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/no such file or directory/) as string,
    });
    const { leads } = await exported();
    expect(leads).toMatchObject([{ firstName: 'Ada' }]);
  });

  it('writes no file if nothing changes, if the import fails, or in a dry run', async () => {
    const [lead = ''] = ids(1);
    await importing({ leads: leadsOf([lead]) });
    const path = beforePath();
    expect(await importing({ leads: leadsOf([lead, randomUUID()]) }, '--before', path)).toMatchObject({
      before: null,
    });
    expect(existsSync(path)).toBe(false);
    const changed = { leads: [{ id: lead, firstName: 'Eve' }] };
    await importing(changed, '--before', path, '--dry-run');
    expect(existsSync(path)).toBe(false);
    const invalid = { leads: [{ id: lead, firstName: 'Eve' }, { id: 'x' }] };
    expect(await installation.operator.run(of('import', file(invalid), '--before', path))).toMatchObject({
      status: 1,
    });
    expect(existsSync(path)).toBe(false);
  });

  it('is named by a dry run that would change records', async () => {
    const [lead = ''] = ids(1);
    const leads = leadsOf([lead]);
    const named = 'This would change 1 record. To be able to bring that back, add --before FILE.\n';
    const dryRun = async (content: object, ...options: string[]): Promise<string> =>
      (await installation.operator.run(of('import', file(content), '--dry-run', ...options))).stdout;
    expect(await dryRun({ leads })).not.toContain('--before');
    await importing({ leads });
    expect(await dryRun({ leads })).not.toContain('--before');
    const changed = { leads: [{ id: lead, firstName: 'Eve' }] };
    expect(await dryRun(changed)).toContain(named);
    expect(await dryRun(changed, '--before', beforePath())).not.toContain('--before');
    const csv = of('import', '-', '--csv', 'leads', '--dry-run');
    expect((await installation.operator.run(csv, `id,firstName\n${lead},Eve\n`)).stdout).toContain(named);
  });
});
