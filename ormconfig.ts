import { DataSource } from 'typeorm';
import { readConfig } from './src/config';
import { operatorDataSourceOptions } from './src/database/data-source';

/** The data source of TypeORM's own migration commands; DATABASE_URL names the database. */
const { databaseUrl } = readConfig();
if (!databaseUrl) throw new Error('DATABASE_URL is not set: the migration commands work on an external PostgreSQL');

export default new DataSource(operatorDataSourceOptions(databaseUrl));
