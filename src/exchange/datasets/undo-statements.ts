import type { DataSource, EntityMetadata } from 'typeorm';
import type { FeedResource } from '../../feed/changes/feed-resource';
import { columnValue } from './record-sql';
import type { ReferenceTarget, Table } from './tables';
import { UNDO_BATCH_SIZE } from './undo-transaction';

/** An entry has numbers as `event_id`, and UUIDs as `id`. */
type EntryKeys = Partial<Record<'event_id' | 'id', string>>;

/** Records of one kind, as the audit log names them. */
export interface CreatedRecords {
  /** The name of the resource in the audit log. */
  resource: string;
  table: string;
  /** The columns of its key, by those of an entry. */
  keys: EntryKeys;
  /** Of associations, the resource whose record has them: created together, they are also deleted together. */
  owner?: string;
  /** The parents that are locked before their lists are changed, and the column that refers to them. */
  parent?: { table: string; column: string };
}

/**
 * The temporary table of what became of the import's records. Those that it created have the `seq` and the key of their entry in
 * the audit log; `outcome` is null if such a record is gone already. Those that it changed have a row for each outcome, with the
 * `key` of the record and the field that stays, if it is one.
 */
const ENTRIES = 'undo_entries';

/** Taken back: a record that the import created is deleted, and one that it changed is brought back, if only in part. */
export const UNDONE = 'undone';

/** The temporary table of the entries of lists that a dry run would remove, by the keys of their records and their own. */
const REMOVALS = 'undo_removals';

export const ADD_REMOVALS = `insert into ${REMOVALS} select $1, * from unnest($2::text[], $3::text[]) on conflict do nothing`;

export const CREATE_ENTRIES = `
  drop table if exists ${REMOVALS};
  create temporary table ${REMOVALS} (list text, owner text, key text, primary key (list, key, owner));
  drop table if exists ${ENTRIES};
  create temporary table ${ENTRIES} (
    n integer generated always as identity primary key, resource text, seq bigint, event_id bigint, id uuid, outcome text,
    key text, field text
  );
  create index on ${ENTRIES} (id);
  create index on ${ENTRIES} (event_id)`;

/** The entries of one batch each. */
export const SELECT_BATCHES = `
  select resource, min(n) as first, max(n) as last from ${ENTRIES} where seq is not null
  group by resource, (n - 1) / ${UNDO_BATCH_SIZE} order by first`;

/** Adds what became of records that the import changed. */
export const ADD_OUTCOMES = `
  insert into ${ENTRIES} (resource, key, field, outcome)
  select * from json_to_recordset($1) r (resource text, key text, field text, outcome text)`;

export const COUNT_OUTCOMES = `
  select resource, seq is not null as "isCreated", outcome, count(distinct coalesce(key, n::text))::integer as count
  from ${ENTRIES} where outcome is not null group by resource, "isCreated", outcome order by min(n)`;

/** The first `$1` records and fields that stay for each reason. */
export const SELECT_LEFT = `
  select resource, id, field, outcome as reason from (
    select n, resource, field, outcome, coalesce(key, concat_ws(' ', event_id, id)) as id,
      row_number() over (partition by outcome order by n) as nth
    from ${ENTRIES} where outcome <> '${UNDONE}'
  ) numbered where nth <= $1 order by n`;

const laterImports = (sameRecord: string): string => `
  select l.import_id from audit_log a join audit_log l on ${sameRecord}
  where a.organization_id = $1 and a.import_id = $2 and a.at between $3 and $4 and a.resource <> 'imports'
    and l.organization_id = $1 and l.resource = a.resource and l.seq > a.seq
    and l.operation = 'import' and l.import_id <> $2`;

/** The later imports, not taken back, of records that the import `$2` wrote from `$3` to `$4`. */
export const SELECT_LATER_IMPORTS = `
  select i.id as "importId", i.at, i.details ->> 'file' as file from audit_log i
  where i.organization_id = $1 and i.resource = 'imports' and i.change = 'c'
    and i.id in (
      ${laterImports('l.id = a.id and l.event_id is not distinct from a.event_id')}
      union ${laterImports('l.id is null and a.id is null and l.event_id = a.event_id')}
    )
    and not exists (select from audit_log u where u.id = i.id and u.resource = 'imports' and u.change = 'd')
  order by i.seq`;

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
    const keys = idType === 'uuid' ? { id: 'id' } : { event_id: 'id' };
    return { resource: resourceOf(table)?.name ?? section, table, keys };
  });
  const associations = tables.flatMap(({ name: table, list, owner, tracked }): CreatedRecords[] => {
    const resource = resourceOf(table);
    const ownedBy = mains.find((main) => main.table === owner?.target?.table);
    if (!list || !resource || !ownedBy) return [];
    const { name, key } = resource;
    const keys = { event_id: key.integer?.column, id: key.uuid?.column };
    return [{ resource: name, table, keys, owner: ownedBy.resource, parent: tracked?.parent }];
  });
  return [...associations, ...mains.reverse()];
}

/**
 * The statements of an undo. `$1` is the organization and, in those of a batch, `$2` and `$3` are the numbers of its first and
 * its last entry.
 */
export class UndoStatements {
  constructor(
    private readonly dataSource: DataSource,
    private readonly tables: Table[],
    private readonly all: CreatedRecords[],
    /** Whether nothing is deleted, so that the outcomes alone say what would be gone. */
    private readonly isDryRun: boolean,
  ) {}

  /** Collects the entries of records that the import `$2` created from `$3` to `$4`. */
  collect({ resource, owner }: CreatedRecords): string {
    const isCreatedWithOwner = `exists (
      select from audit_log o where o.organization_id = $1 and o.id = a.id and o.import_id = $2 and o.resource = '${owner}'
        and o.change = 'c')`;
    return `insert into ${ENTRIES} (resource, seq, event_id, id)
      select a.resource, a.seq, a.event_id, a.id from audit_log a
      where a.organization_id = $1 and a.import_id = $2 and a.resource = '${resource}' and a.change = 'c'
        and a.at between $3 and $4 ${owner ? `and not ${isCreatedWithOwner}` : ''}
      order by a.at, a.seq`;
  }

  /** Locks rows in the order of their keys, and the parents of their lists before them, as other writers do. */
  locks(records: CreatedRecords): string[] {
    const { table, keys, parent } = records;
    const rows = `${table} t join ${ENTRIES} r on ${isEntry(records)}`;
    const order = columnsOf(keys).map(([, column]) => `t.${column}`);
    const lockRows = `select from ${rows} order by ${order.join(', ')} for update of t`;
    if (!parent) return [lockRows];
    const lockParents = `select from ${parent.table} p where p.organization_id = $1
      and p.id in (select t.${parent.column} from ${rows}) order by p.id for no key update`;
    return [lockParents, lockRows];
  }

  /**
   * Finds out which records are still those that the import, `$4`, created, and why they stay: others have changed them since,
   * or use them. A lead also changes with its tags, activations, activities and associations.
   */
  classify(records: CreatedRecords): string {
    const { resource, table, keys } = records;
    const sameKey = keys.id ? 'a.id = r.id' : 'a.id is null';
    const sameNumber = keys.event_id ? `and a.event_id = r.event_id and a.resource = '${resource}'` : '';
    const later = `select from audit_log a where a.organization_id = $1 and ${sameKey} ${sameNumber} and a.seq > r.seq`;
    return `update ${ENTRIES} r set outcome = case
          when exists (${later} and a.import_id is distinct from $4) then 'changed'
          when ${this.isInUse(records)} then 'inUse'
          else '${UNDONE}'
        end
      from ${table} t
      where ${isEntry(records)} and not exists (${later} and a.resource = '${resource}' and a.change = 'd')`;
  }

  deletion(records: CreatedRecords): string {
    return `delete from ${records.table} t using ${ENTRIES} r where ${isEntry(records)} and r.outcome = '${UNDONE}'`;
  }

  /** The condition of a dry run that the row of a table would not have been deleted before. */
  isKept(table: string, row: string): string {
    const records = this.all.find((each) => each.table === table);
    if (!this.isDryRun || !records) return 'true';
    const { resource, keys } = records;
    return `not exists (select from ${ENTRIES} d
      where d.resource = '${resource}' and d.outcome = '${UNDONE}' and ${isRecord(keys, row, 'd')})`;
  }

  /** The numbers of the keys `$2` that no row has. The rows of the others are locked. */
  missingKeys({ table, key }: ReferenceTarget, type: string): string {
    return `select n::integer from unnest($2::${type}[]) with ordinality e (key, n)
      where not exists (
        select from ${table} t where t.organization_id = $1 and t.${key} = e.key ${this.isDryRun ? '' : 'for key share'}
      )`;
  }

  /** The numbers of the entries of a list, by their keys `$2`, that others use. They are locked, so that nobody can begin to. */
  usedEntries({ name, key, columns }: Table): string {
    const type = columns.find((column) => column.name === key)?.type;
    return `select n::integer from unnest($2::${type}[]) with ordinality e (key, n)
        join ${name} l on l.organization_id = $1 and l.${key} = e.key
      where ${this.isReferredTo(name, 'l')} order by l.${key} ${this.isDryRun ? '' : 'for update of l'}`;
  }

  /** Whether rows refer to the row `t` that are no part of its record. */
  private isInUse({ table }: CreatedRecords): string {
    const main = this.tables.find(({ name, list }) => name === table && !list);
    if (!main) return 'false';
    const lists = main.lists.map(
      ({ name, owner }) => `exists (select from ${name} l
      where l.organization_id = $1 and l.${owner?.name} = t.id and ${this.isReferredTo(name, 'l')})`,
    );
    return [this.isReferredTo(table, 't', main.lists), ...lists].join(' or ');
  }

  /** The condition that rows refer to a row of a table. @param parts the tables whose rows are parts of its record */
  private isReferredTo(table: string, row: string, parts: Table[] = []): string {
    const conditions: string[] = [];
    for (const metadata of this.dataSource.entityMetadatas) {
      if (parts.some(({ name }) => name === metadata.tableName)) continue;
      for (const { columns, referencedColumns, referencedEntityMetadata } of metadata.foreignKeys) {
        if (referencedEntityMetadata.tableName !== table) continue;
        const refersTo = columns.map(
          (own, n) => `u.${own.databaseName} = ${row}.${referencedColumns[n]?.databaseName}`,
        );
        conditions.push(
          `exists (select from ${metadata.tableName} u where ${refersTo.join(' and ')} ${this.stays(metadata)})`,
        );
      }
    }
    return conditions.length > 0 ? `(${conditions.join(' or ')})` : 'false';
  }

  /** The condition of a dry run that the row `u` would not have been deleted before, nor the record whose list has it. */
  private stays({ tableName }: EntityMetadata): string {
    if (!this.isDryRun) return '';
    const { owner, key, columns = [], list } = this.tables.find(({ name }) => name === tableName) ?? {};
    const conditions = this.all.flatMap(({ resource, table, keys }) => {
      if (table === tableName) return [`and ${this.isKept(table, 'u')}`];
      if (table !== owner?.target?.table) return [];
      return `and not exists (select from ${ENTRIES} d where d.resource = '${resource}' and d.outcome = '${UNDONE}'
        and u.${owner.name} = d.${keys.id ? 'id' : 'event_id'})`;
    });
    const keyColumn = columns.find(({ name }) => name === key);
    if (list && owner && keyColumn) {
      conditions.push(`and not exists (select from ${REMOVALS} d where d.list = '${tableName}'
        and d.owner = ${columnValue(owner, 'u')}::text and d.key = ${columnValue(keyColumn, 'u')}::text)`);
    }
    return conditions.join(' ');
  }
}

const columnsOf = (keys: EntryKeys): [entryColumn: string, column: string][] =>
  Object.entries(keys).filter(([, column]) => column !== undefined);

/** The condition that a row has the key of an entry. */
const isRecord = (keys: EntryKeys, row: string, entry: string): string =>
  columnsOf(keys)
    .map(([entryColumn, column]) => `${row}.${column} = ${entry}.${entryColumn}`)
    .join(' and ');

/** The condition that the row `t` is that of the entry `r` of the batch. */
const isEntry = (records: CreatedRecords): string =>
  `t.organization_id = $1 and ${isRecord(records.keys, 't', 'r')} and r.n between $2 and $3`;
