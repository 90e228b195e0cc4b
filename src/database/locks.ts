import type { EntityManager } from 'typeorm';

/** Any number: the class of the advisory locks of organizations. The second key is the organization. */
const ORGANIZATION_LOCK_CLASS = 1_767_225_600;

/** The industry-event catalog, which all organizations share: its lock comes after that of an organization. */
export const CATALOG = 0;

/** SQL that takes an organization's lock until the end of the transaction. docs/locking.md says who takes it, and when. */
export const organizationLock = (organization: string): string =>
  `pg_advisory_xact_lock(${ORGANIZATION_LOCK_CLASS}, ${organization})`;

/** Takes an organization's lock until the end of the transaction. */
export async function lockOrganization(manager: EntityManager, organizationId: number): Promise<void> {
  await manager.query(`select ${organizationLock('$1')}`, [organizationId]);
}
