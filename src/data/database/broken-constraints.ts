import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { InvalidField, InvalidRequest } from '../../errors/exceptions';
import type { FaultReason } from '../../errors/faults';
import {
  BROKEN_CHECK,
  BROKEN_REFERENCE,
  MISSING_VALUE,
  REPEATED_KEY,
  type SqlStates,
} from '../../errors/sql-state-codes';
import { driverErrorOf, hasSqlState } from './errors';

/** Why a field is rejected whose column is that of a broken constraint. */
const REASONS: readonly [SqlStates, FaultReason][] = [
  [MISSING_VALUE, 'missing'],
  [BROKEN_CHECK, 'range'],
  [REPEATED_KEY, 'duplicate'],
  [BROKEN_REFERENCE, 'not-found'],
];

const reasonOf = (error: unknown): FaultReason | undefined =>
  REASONS.find(([states]) => hasSqlState(error, states))?.[1];

/** The columns of a constraint, or of a unique index, its expressions and its condition included. */
const FIND_COLUMNS = `
  select distinct attname::text as column from pg_depend
  join pg_attribute on attrelid = refobjid and attnum = refobjsubid
  where refclassid = 'pg_class'::regclass and refobjid = to_regclass(quote_ident($2)) and refobjsubid > 0
    and (classid, objid) in (
      select 'pg_constraint'::regclass::oid, oid from pg_constraint where conname = $1 and conrelid = refobjid
      union all select 'pg_class'::regclass::oid, to_regclass(quote_ident($1))::oid)`;

/** Finds the part of a request by which a row broke a constraint. */
@Injectable()
export class BrokenConstraints {
  constructor(private readonly dataSource: DataSource) {}

  /** Whether an error says that a row breaks a constraint. */
  isBroken = (error: unknown): boolean => reasonOf(error) !== undefined;

  /**
   * @returns the error of the field of the body whose column the constraint is about, or of the body if there are several;
   *   the given one if the body has none, so that the row is the program's
   */
  async explain(error: unknown, body: unknown): Promise<unknown> {
    const { constraint, table, column } = driverErrorOf(error);
    const reason = reasonOf(error);
    const columns = column ? [{ column }] : await this.findColumns(constraint, table);
    const entity = this.dataSource.entityMetadatas.find(({ tableName }) => tableName === table);
    const fields = columns.flatMap(({ column: name }) => entity?.findColumnWithDatabaseName(name)?.propertyName ?? []);
    const [field, ...others] = fields.filter((each) => Object.hasOwn(Object(body) as object, each));
    if (field === undefined) return error;
    return others.length === 0 ? new InvalidField(field, reason) : new InvalidRequest('body', reason);
  }

  /** None if the database cannot say it, such as within a transaction that has failed. */
  private findColumns(constraint?: string, table?: string): Promise<{ column: string }[]> {
    return this.dataSource.query<{ column: string }[]>(FIND_COLUMNS, [constraint, table]).catch(() => []);
  }
}
