/**
 * SQL that identifies the database: the cluster, and the number of the database in it. A restored dump, a clone made with
 * `createdb -T` and a cluster made by `pg_upgrade` have another identity than their source. The timeline is not part of it,
 * because a promoted standby and a copied data directory continue as the same database.
 */
export const DATABASE_IDENTITY = `(
    select concat_ws('/', system_identifier, oid) from pg_control_system(), pg_database where datname = current_database())`;
