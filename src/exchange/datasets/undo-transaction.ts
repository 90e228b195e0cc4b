import type { EntityManager } from 'typeorm';
import { setAuditedImport } from '../../access/audit-log.service';
import type { AuditedImport } from '../../access/audited-imports';
import { withRetries } from '../../data/database/errors';
import { lockOrganization } from '../../data/database/locks';

/** So few records are changed at a time, so that others wait for a tenth of a second at most. */
export const UNDO_BATCH_SIZE = 200;

/** Runs one batch of an undo, whose entries in the audit log name the import. */
export const inUndoTransaction = <T>(
  manager: EntityManager,
  { organizationId, importId }: Pick<AuditedImport, 'organizationId' | 'importId'>,
  work: () => Promise<T>,
): Promise<T> =>
  withRetries(() =>
    manager.transaction(async () => {
      await lockOrganization(manager, organizationId);
      await setAuditedImport(manager, organizationId, 'imports undo', importId);
      return work();
    }),
  );
