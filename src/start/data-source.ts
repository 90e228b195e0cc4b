import 'reflect-metadata';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import '../app.module'; // the entities of Lanyard's modules
import { readConfig } from '../config';
import { operatorDataSourceOptions } from '../data/database/data-source';
import { createDataSource } from '../data/database/data-source.module';
import { findDatabase } from '../data/schema/open';
import type { Extension } from '../extensions/extension';
import { requireSingleInstances } from '../extensions/single-instance';

/**
 * The data source that TypeORM's command line takes, as in `typeorm -d dist/data-source.js migration:generate`. It names the
 * database of the settings: DATABASE_URL or, without it, the embedded PostgreSQL, which it starts.
 */
export async function dataSource({ migrations }: Extension = {}): Promise<DataSource> {
  requireSingleInstances(join(process.cwd(), 'package.json'));
  Logger.overrideLogger(false);
  const database = await findDatabase(readConfig(), (line) => void process.stderr.write(`${line}\n`));
  const source = await createDataSource(operatorDataSourceOptions(database.url, { migrations }));
  const destroy = source.destroy.bind(source);
  source.destroy = async () => {
    await destroy();
    await database.close();
  };
  return source;
}
