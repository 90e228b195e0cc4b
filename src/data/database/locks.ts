import type { EntityManager } from 'typeorm';

/** Any number: the class of the advisory locks of organizations. The second key is the organization. */
const ORGANIZATION_LOCK_CLASS = 1_767_225_600;

/** The industry-event catalog, which all organizations share: its lock comes after that of an organization. */
export const CATALOG = 0;

/** Any other number: the class of the advisory locks by which the imports of an organization take turns. */
const IMPORT_LOCK_CLASS = 1_767_225_601;

/** One more number: the class of the advisory locks that an import shares with others from its first record to its last. */
const RUNNING_IMPORT_LOCK_CLASS = 1_767_225_602;

/** SQL that takes an organization's lock until the end of the transaction. docs/locking.md says who takes it, and when. */
export const organizationLock = (organization: string): string =>
  `pg_advisory_xact_lock(${ORGANIZATION_LOCK_CLASS}, ${organization})`;

/** Waits until no import of an organization is under way, and keeps others out until the end of the transaction. */
export async function lockImports(manager: EntityManager, organizationId: number): Promise<void> {
  await manager.query('select pg_advisory_xact_lock($1, $2)', [IMPORT_LOCK_CLASS, organizationId]);
}

/**
 * Marks an import of an organization as running, so that `waitForImports` waits for its end. Within a transaction, the mark ends
 * with that, because it could not be removed if the transaction failed.
 * @param manager of the connection of the import
 */
export async function beginImport(manager: EntityManager, organizationId: number): Promise<void> {
  const lock = manager.queryRunner?.isTransactionActive ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_lock_shared';
  await manager.query(`select ${lock}($1, $2)`, [RUNNING_IMPORT_LOCK_CLASS, organizationId]);
}

/** Removes the mark of `beginImport`. An import that has lost its connection has lost the mark, too. */
export async function endImport(manager: EntityManager, organizationId: number): Promise<void> {
  if (manager.queryRunner?.isTransactionActive) return;
  const lock = [RUNNING_IMPORT_LOCK_CLASS, organizationId];
  await manager.query('select pg_advisory_unlock_shared($1, $2)', lock).catch(() => undefined);
}

/**
 * Waits until no import of an organization is running, reads its file, or has read it and not written it, and keeps others out
 * until the end of the transaction.
 * @param onWait called if there is one
 */
export async function waitForImports(
  manager: EntityManager,
  organizationId: number,
  onWait: () => void,
): Promise<void> {
  const lock = [RUNNING_IMPORT_LOCK_CLASS, organizationId];
  const [{ isFree }] = await manager.query<[{ isFree: boolean }]>(
    'select pg_try_advisory_xact_lock($1, $2) as "isFree"',
    lock,
  );
  if (isFree) return;
  onWait();
  await manager.query('select pg_advisory_xact_lock($1, $2)', lock);
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
