import type { EntityManager } from 'typeorm';

/** Any number: the class of the advisory locks of organizations. The second key is the organization. */
const ORGANIZATION_LOCK_CLASS = 1_767_225_600;

/** The industry-event catalog, which all organizations share: its lock comes after that of an organization. */
export const CATALOG = 0;

/** Any other number: the class of the advisory locks by which the imports of an organization take turns. */
const IMPORT_LOCK_CLASS = 1_767_225_601;

/** SQL that takes an organization's lock until the end of the transaction. docs/locking.md says who takes it, and when. */
export const organizationLock = (organization: string): string =>
  `pg_advisory_xact_lock(${ORGANIZATION_LOCK_CLASS}, ${organization})`;

/** Waits until no import of an organization is under way, and keeps others out until the end of the transaction. */
export async function lockImports(manager: EntityManager, organizationId: number): Promise<void> {
  await manager.query('select pg_advisory_xact_lock($1, $2)', [IMPORT_LOCK_CLASS, organizationId]);
}

/**
 * Takes the lock of an organization's imports and then that of the organization, until the end of the transaction. An import
 * locks rows before it takes the organization's lock, so somebody who held only the latter and waited for these
 * rows would be in a deadlock with it.
 */
export async function lockOrganization(manager: EntityManager, organizationId: number): Promise<void> {
  await lockImports(manager, organizationId);
  await manager.query(`select ${organizationLock('$1')}`, [organizationId]);
}
