import type { DataSource, EntityMetadata } from 'typeorm';
import type { FeedResource } from '../changes/feed-resource';
import type { Table } from './tables';

/** Records of one kind, as the audit log names them, and the columns of their table that hold their keys. */
export interface CreatedRecords {
  /** The name of the resource in the audit log. */
  resource: string;
  table: string;
  integer?: string;
  uuid?: string;
  /** Of associations, the resource whose record has them: created together, they are also deleted together. */
  owner?: string;
  /** The parents that are locked before their lists are changed, and the column that refers to them. */
  parent?: { table: string; column: string };
}

/** The temporary table of a dry run with the keys of the records that an undo would delete. */
export const DELETABLE_TABLE = 'undo_deletable';

/** Entries of the audit log, `$2` to `$4`, as the rows `r`. */
const ENTRIES = 'unnest($2::bigint[], $3::bigint[], $4::uuid[]) with ordinality r (seq, event_id, id, n)';

/**
 * What an undo deletes, in the order in which it does: associations, and then sections, each before those that it refers to.
 * Shared records stay, because they are everybody's.
 */
export function createdRecordsOf(
  dataSource: DataSource,
  tables: Table[],
  resources: readonly FeedResource[],
): CreatedRecords[] {
  const resourceOf = (name: string) => resources.find(({ table }) => table === name);
  const ownMains = tables.filter(({ list, isShared }) => !list && !isShared);
  const mains = ownMains.map(({ name: table, section }): CreatedRecords => {
    const idType = dataSource.getMetadata(table).findColumnWithPropertyName('id')?.type;
    const key = idType === 'uuid' ? { uuid: 'id' } : { integer: 'id' };
    return { resource: resourceOf(table)?.name ?? section, table, ...key };
  });
  const associations = tables.flatMap(({ name: table, list, owner, tracked }): CreatedRecords[] => {
    const resource = resourceOf(table);
    const ownedBy = mains.find((main) => main.table === owner?.target?.table);
    if (!list || !resource || !ownedBy) return [];
    const { name, key } = resource;
    const columns = { integer: key.integer?.column, uuid: key.uuid?.column };
    return [{ resource: name, table, ...columns, owner: ownedBy.resource, parent: tracked?.parent }];
  });
  return [...associations, ...mains.reverse()];
}

/**
 * The statements of an undo. `$1` is the organization; `$2` to `$4` are the entries of the audit log that say which records the
 * import created: their numbers and the two parts of the keys.
 */
export class UndoStatements {
  constructor(
    private readonly dataSource: DataSource,
    private readonly tables: Table[],
    private readonly all: CreatedRecords[],
    /** Whether nothing is deleted, so that `undo_deletable` says what would be gone. */
    private readonly isDryRun: boolean,
  ) {}

  /**
   * A page of the entries of records that an import created. `$1` is the organization, `$2` the import, `$3` and `$4` where the
   * page before ended, `$5` when the import ended, and `$6` the size of the page.
   */
  page({ resource, owner }: CreatedRecords): string {
    return `select a.at, a.seq, a.event_id as "integer", a.id as "uuid" from audit_log a
      where a.organization_id = $1 and a.import_id = $2 and a.resource = '${resource}' and a.change = 'c'
        and (a.at, a.seq) > ($3, $4) and a.at <= $5 ${owner ? `and not ${hasOther(`o.resource = '${owner}' and o.change = 'c'`)}` : ''}
      order by a.at, a.seq limit $6`;
  }

  /**
   * How many records the import has given associations, and changed nothing else of. `$1` is the organization, `$2` the import,
   * `$3` and `$4` when it began and ended. Undefined for records that are no associations.
   */
  countLinked({ resource, owner }: CreatedRecords): string | undefined {
    if (!owner) return undefined;
    return `select count(distinct a.id)::integer as count from audit_log a
      where a.organization_id = $1 and a.import_id = $2 and a.resource = '${resource}' and a.change = 'c'
        and a.at between $3 and $4 and not ${hasOther(`(o.resource, o.change) <> ('${resource}', 'c')`)}`;
  }

  /** Locks rows in the order of their keys, and the parents of their lists before them, as other writers do. */
  locks(records: CreatedRecords): string[] {
    if (this.isDryRun) return [];
    const { table, parent } = records;
    const rows = `${table} t join ${ENTRIES} on ${isEntry(records)}`;
    const lockRows = `select from ${rows} order by ${keyColumns(records, 't').join(', ')} for update of t`;
    if (!parent) return [lockRows];
    const parents = `select t.${parent.column} from ${rows}`;
    const lockParents = `select from ${parent.table} p where p.organization_id = $1 and p.id in (${parents})
      order by p.id for no key update`;
    return [lockParents, lockRows];
  }

  /**
   * Which records are still those that the import, `$5`, created, and why they stay: others have changed them since, or use
   * them. A lead also changes with its tags, activations, activities and associations.
   */
  classify(records: CreatedRecords): string {
    const { resource, table, integer, uuid } = records;
    const sameKey = ['a.organization_id = $1', uuid ? 'a.id = r.id' : 'a.id is null'];
    if (integer) sameKey.push('a.event_id = r.event_id');
    if (integer || !uuid) sameKey.push(`a.resource = '${resource}'`);
    const later = `select from audit_log a where ${sameKey.join(' and ')} and a.seq > r.seq`;
    return `select r.n::integer - 1 as index, case
          when exists (${later} and a.import_id is distinct from $5) then 'changed'
          when ${this.isInUse(records)} then 'inUse'
        end as reason
      from ${ENTRIES} join ${table} t on ${isEntry(records)}
      where not exists (${later} and a.resource = '${resource}' and a.change = 'd')
      order by r.n`;
  }

  delete(records: CreatedRecords): string {
    if (!this.isDryRun) return `delete from ${records.table} t using ${ENTRIES} where ${isEntry(records)}`;
    return `insert into ${DELETABLE_TABLE}
      select ${keySql(records, 't')} from ${records.table} t join ${ENTRIES} on ${isEntry(records)}`;
  }

  /** Whether rows refer to the row `t` that are no part of its record. */
  private isInUse({ table }: CreatedRecords): string {
    const main = this.tables.find(({ name, list }) => name === table && !list);
    if (!main) return 'false';
    const { lists } = main;
    const conditions: string[] = [];
    for (const metadata of this.dataSource.entityMetadatas) {
      if (lists.some(({ name }) => name === metadata.tableName)) continue;
      for (const { columns, referencedColumns, referencedEntityMetadata } of metadata.foreignKeys) {
        const refersTo = (row: string): string =>
          columns.map((own, n) => `u.${own.databaseName} = ${row}.${referencedColumns[n]?.databaseName}`).join(' and ');
        const user = `select from ${metadata.tableName} u`;
        const list = lists.find(({ name }) => name === referencedEntityMetadata.tableName);
        if (referencedEntityMetadata.tableName === table) {
          conditions.push(`exists (${user} where ${refersTo('t')} ${this.stays(metadata)})`);
        } else if (list?.owner) {
          const ofRecord = `l.organization_id = $1 and l.${list.owner.name} = t.id`;
          conditions.push(
            `exists (${user} join ${list.name} l on ${refersTo('l')} where ${ofRecord} ${this.stays(metadata)})`,
          );
        }
      }
    }
    return conditions.length > 0 ? `(${conditions.join(' or ')})` : 'false';
  }

  /** The condition of a dry run that the row `u` would not have been deleted before. */
  private stays({ tableName }: EntityMetadata): string {
    const table = this.tables.find(({ name }) => name === tableName);
    if (!this.isDryRun || !table) return '';
    const own = this.all.find((records) => records.table === tableName);
    const owner = this.all.find((records) => records.table === table.owner?.target?.table);
    const keys = own ? [keySql(own, 'u')] : [];
    if (owner) keys.push(`'${owner.resource}/' || u.${table.owner?.name}`);
    if (keys.length === 0) return '';
    return `and not exists (select from ${DELETABLE_TABLE} d where d.key in (${keys.join(', ')}))`;
  }
}

/** The condition that the import has another entry `o` of the record of the entry `a`. */
const hasOther = (condition: string): string => `exists (
          select from audit_log o where o.organization_id = $1 and o.id = a.id and o.import_id = $2 and ${condition}
        )`;

const keyColumns = ({ integer, uuid }: CreatedRecords, row: string): string[] =>
  [integer, uuid].flatMap((column) => (column ? [`${row}.${column}`] : []));

/** The key of a row as one text. */
const keySql = (records: CreatedRecords, row: string): string =>
  `'${records.resource}/' || ${keyColumns(records, row).join(` || '/' || `)}`;

/** The condition that the row `t` is the one of an entry. */
function isEntry({ integer, uuid }: CreatedRecords): string {
  const conditions = ['t.organization_id = $1'];
  if (integer) conditions.push(`t.${integer} = r.event_id`);
  if (uuid) conditions.push(`t.${uuid} = r.id`);
  return conditions.join(' and ');
}
