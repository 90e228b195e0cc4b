import { ApiKeysService, KeyEnded } from '../../src/access/api-keys.service';
import { OrganizationsService } from '../../src/access/organizations.service';
import { type InProcess, startInProcess } from '../support/lanyard';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const HOUR_MS = 3_600_000;

describe('the keys of an organization', () => {
  let keys: ApiKeysService;
  let organizations: OrganizationsService;
  let organizationId: number;
  beforeAll(async () => {
    const lanyard: InProcess = await startInProcess();
    keys = lanyard.app.get(ApiKeysService);
    organizations = lanyard.app.get(OrganizationsService);
  });
  beforeEach(async () => {
    const [{ id }, other] = [await organizations.create('Cobalt Systems'), await organizations.create('Another')];
    await keys.issue(other.id);
    organizationId = id;
  });

  it('have the limits of the contract unless others are given, and are listed oldest first', async () => {
    const [first, second] = [await keys.issue(organizationId), await keys.issue(organizationId, { maxTokens: 5 })];
    expect([first, second]).toMatchObject([
      { maxTokens: 20, refillRate: 1, expiresAt: null },
      { maxTokens: 5, refillRate: 1 },
    ]);
    expect((await keys.list(organizationId)).map(({ id }) => id)).toEqual([first.id, second.id]);
    expect((await organizations.list()).find(({ id }) => id === organizationId)).toMatchObject({ keys: 2, leads: 0 });
    expect([await organizations.exists(organizationId), await organizations.exists(2 ** 31 - 1)]).toEqual([
      true,
      false,
    ]);
  });

  it('get other limits one by one', async () => {
    const [changed, kept] = [await keys.issue(organizationId), await keys.issue(organizationId)];
    expect(await keys.setLimits(changed.id, { refillRate: 3 })).toMatchObject({ id: changed.id, refillRate: 3 });
    expect(await keys.list(organizationId)).toMatchObject([{ refillRate: 3 }, { id: kept.id, refillRate: 1 }]);
    expect(await keys.setLimits(UNKNOWN, { refillRate: 3 })).toBeNull();
  });

  it('are rotated: the new one has the settings, the old one ends after the overlap or sooner', async () => {
    const settings = { label: 'CRM', maxTokens: 7, refillRate: 2, expiresAt: new Date(Date.now() + HOUR_MS) };
    const old = await keys.issue(organizationId, settings);
    const soon = await keys.rotate(old.id, 60);
    expect(soon).toMatchObject({ ...settings, organizationId });
    expect(Math.abs(Number(soon?.oldEnds) - Date.now() - 60_000)).toBeLessThan(30_000);
    expect((await keys.list(organizationId))[0]).toMatchObject({ id: old.id, expiresAt: soon?.oldEnds });
    expect((await keys.rotate(soon?.id ?? '', 2 * 3600))?.oldEnds).toEqual(settings.expiresAt);
    expect(await keys.rotate(UNKNOWN, 60)).toBeNull();
  });

  it('that have ended are not rotated, and are revoked once', async () => {
    const { id } = await keys.issue(organizationId);
    const expired = await keys.issue(organizationId, { expiresAt: new Date(Date.now() - 1) });
    const revoked = await keys.revoke(id);
    expect(revoked?.id).toBe(id);
    expect(await keys.revoke(id)).toEqual(revoked);
    expect(await keys.revoke(UNKNOWN)).toBeNull();
    for (const ended of [id, expired.id]) await expect(keys.rotate(ended, 60)).rejects.toThrow(KeyEnded);
  });
});
