/**
 * SQL of what tells databases apart: the cluster, and the number of the database there. A restored dump, a clone by
 * `createdb -T` and a cluster that `pg_upgrade` made have another identity than their source. The timeline is no part of it,
 * because a promoted standby and a copied data directory go on as the same database.
 */
export const DATABASE_IDENTITY = `(
    select concat_ws('/', system_identifier, oid) from pg_control_system(), pg_database where datname = current_database())`;
