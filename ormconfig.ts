import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import './src/app.module';
import { readConfig } from './src/config';
import { operatorDataSourceOptions } from './src/database/data-source';
import { createDataSource } from './src/database/data-source.module';

/** The data source of TypeORM's own migration commands; DATABASE_URL names the database. */
const { databaseUrl } = readConfig();
if (!databaseUrl) throw new Error('DATABASE_URL is not set: the migration commands work on an external PostgreSQL');

Logger.overrideLogger(false);
export default createDataSource(operatorDataSourceOptions(databaseUrl));
