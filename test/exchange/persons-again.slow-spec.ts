import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import type { Erasure } from '../../src/exchange/persons/persons.service';
import type { KeptLead } from '../../src/exchange/persons/erased-persons.service';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { Operator } from '../support/operator';

type Again = Erasure & { kept: KeptLead[] };

const newFile = (): string => join(mkdtempSync(join(tmpdir(), 'persons-')), 'erased.ndjson');

describe('a record of erasures', () => {
  let lanyard: InProcess;
  let operator: Operator;
  let db: DataSource;
  let tenant: Tenant;
  beforeAll(async () => {
    lanyard = await startInProcess();
    operator = new Operator({ DATABASE_URL: lanyard.config.databaseUrl });
    db = lanyard.app.get(DataSource);
  });
  beforeEach(async () => {
    tenant = await lanyard.tenant();
  });

  const runErase = (...options: string[]) =>
    operator.run(['persons', 'erase', '--organization', String(tenant.organizationId), '--json', ...options]);
  const again = async (file: string, ...options: string[]): Promise<Again> => {
    const { status, stdout, stderr } = await operator.run(['persons', 'erase', '--again', file, '--json', ...options]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return JSON.parse(stdout) as Again;
  };
  const exported = async (): Promise<object> =>
    operator.json(['export', '--organization', String(tenant.organizationId)]);
  const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id).sort();

  /** Brings back leads as a restore of an older backup does: with the entries of their creation. */
  const restore = async (leads: { id: string }[]): Promise<void> => {
    await tenant.import({ leads });
    await db.query(`update audit_log set at = at - interval '1 day' where id = any($1)`, [idsOf(leads)]);
  };

  it('erases again by every option, and leaves who registers again', async () => {
    const [byEmail, byPhone, byLead, restored] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const phones = (number: string) => ({ leadProvided: [{ number, type: 'MOBILE', preferred: true }] });
    const leads = [
      { id: byEmail, email: 'Again@example.com' },
      { id: byPhone, email: 'p@example.com', phoneNumbers: phones('+49 170 1234567') },
      { id: byLead, email: 'shared@example.com' },
    ];
    await tenant.import({ leads });
    const file = newFile();
    for (const option of [
      ['--email', 'again@EXAMPLE.com'],
      ['--phone', '0049 170 1234567'],
      ['--lead', byLead],
    ]) {
      expect(await runErase(...option, '--yes', '1', '--record', file)).toMatchObject({ status: 0, stderr: '' });
    }
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => Object.keys(JSON.parse(line) as object))).toEqual([
      ['salt'],
      ...Array.from({ length: 3 }, () => ['at', 'sha256']),
    ]);
    for (const text of ['again', '170', byLead]) expect(lines.join('\n').toLowerCase()).not.toContain(text);

    const later = { id: randomUUID(), email: 'again@example.com', createdAt: '2020-01-01T00:00:00Z' };
    await restore([...leads, { id: restored, email: 'AGAIN@example.com' } as { id: string }]);
    await tenant.import({ leads: [later, { id: randomUUID(), email: 'shared@example.com' }] });
    const before = await exported();
    const preview = await again(file);
    expect(preview).toMatchObject({
      erased: false,
      leads: 4,
      kept: [{ id: later.id, reason: expect.any(String) as string }],
    });
    expect(idsOf(preview.records)).toEqual([byEmail, byPhone, byLead, restored].sort());
    expect(await exported()).toEqual(before);
    expect(await again(file, '--yes', '4')).toEqual({ ...preview, erased: true });
    expect(await again(file)).toMatchObject({
      leads: 0,
      kept: [{ id: later.id, reason: 'arrived after the erasure' }],
    });
  });

  it('goes by createdAt without an entry, and erases nobody whose arrival is unknown', async () => {
    const address = 'unlogged@example.com';
    const file = newFile();
    await runErase('--email', address, '--yes', '0', '--record', file);
    const [before, after] = [randomUUID(), randomUUID()];
    await tenant.import({
      leads: [
        { id: before, email: address, createdAt: '2020-01-01T00:00:00Z' },
        { id: after, email: address },
      ],
    });
    await db.query('delete from audit_log where id = any($1)', [[before, after]]);
    const known = await again(file);
    expect(idsOf(known.records)).toEqual([before]);
    expect(known.kept).toMatchObject([{ id: after, reason: 'arrived after the erasure' }]);

    await db.query(`update audit_log set at = now() + interval '1 hour' where organization_id = $1`, [
      tenant.organizationId,
    ]);
    const unknown = await again(file);
    expect(unknown.leads).toBe(0);
    expect(unknown.kept).toMatchObject([
      { id: before, reason: 'arrival unknown: the audit log begins after the erasure' },
      { id: after },
    ]);
  });

  it('reads files of the first form, completes a last line without a line break, and appends its own', async () => {
    const address = 'İda@former.example';
    const salt = 'a'.repeat(64);
    const sha256 = createHash('sha256')
      .update(`${salt} ${tenant.organizationId} ${address.toLowerCase()}`)
      .digest('hex');
    const file = newFile();
    writeFileSync(file, `${JSON.stringify({ salt })}\n${JSON.stringify({ at: new Date(), sha256 })}`);
    const [own, later, other] = [randomUUID(), randomUUID(), randomUUID()];
    await restore([
      { id: own, email: address } as { id: string },
      { id: other, email: 'o@former.example' } as { id: string },
    ]);
    await tenant.import({ leads: [{ id: later, professionalEmails: `x@former.example; ${address}` }] });
    const found = await again(file);
    expect(idsOf(found.records)).toEqual([own]);
    expect(found.kept).toMatchObject([{ id: later }]);

    await runErase('--email', 'o@former.example', '--yes', '1', '--record', file);
    await restore([{ id: other, email: 'o@former.example' } as { id: string }]);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(4);
    expect(idsOf((await again(file)).records)).toEqual([own, other].sort());
  });

  it('refuses another kind of file before anything is deleted', async () => {
    await tenant.import({ leads: [{ id: randomUUID(), email: 'stays@example.com' }] });
    const before = await exported();
    const folder = mkdtempSync(join(tmpdir(), 'persons-'));
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const text = join(folder, 'text');
    writeFileSync(text, 'a shopping list\n');
    const damaged = join(folder, 'damaged');
    writeFileSync(damaged, `${JSON.stringify({ salt: 'a' })}\n`);
    appendFileSync(damaged, '{"at":"2026-01-0');
    for (const file of [pipe, text, damaged, folder, '/dev/null']) {
      for (const options of [
        ['--email', 'stays@example.com', '--yes', '1', '--record', file],
        ['--again', file],
      ]) {
        const command = options.includes('--again')
          ? operator.run(['persons', 'erase', ...options])
          : runErase(...options);
        expect(await command).toMatchObject({
          status: 1,
          stderr: expect.stringContaining('Nothing was changed') as string,
        });
      }
    }
    const missing = await operator.run(['persons', 'erase', '--again', join(folder, 'none')]);
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('There is no record') as string });
    expect(await exported()).toEqual(before);
  });
});
