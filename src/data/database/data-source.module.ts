import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { TransactionalDataSource } from './transactional-data-source';

/** The options of the data source of a process, which differ between a server and an operator's command. */
export abstract class DatabaseOptions {
  abstract readonly options: TypeOrmModuleOptions;
}

/** The data source, with the entities that modules name by `TypeOrmModule.forFeature`. The root module gives its options. */
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [DatabaseOptions],
      useFactory: ({ options }: DatabaseOptions) => ({ ...options, autoLoadEntities: true }),
      dataSourceFactory: (options) => Promise.resolve(new TransactionalDataSource(options as DataSourceOptions)),
    }),
  ],
  providers: [{ provide: TransactionalDataSource, useExisting: DataSource }],
  exports: [TypeOrmModule, TransactionalDataSource],
})
export class DataSourceModule {}

/**
 * Creates a data source in addition to that of the application, for migrations for example. It is not connected yet.
 * @throws when no module was loaded that has entities: functions and triggers belong to them, and would be dropped
 */
export async function createDataSource(options: DataSourceOptions): Promise<TransactionalDataSource> {
  const provided: DatabaseOptions = { options: { ...options, manualInitialization: true } };
  const root = {
    module: class DataSourceRoot {},
    global: true,
    imports: [DataSourceModule],
    providers: [{ provide: DatabaseOptions, useValue: provided }],
    exports: [DatabaseOptions],
  };
  const context = await NestFactory.createApplicationContext(root, { abortOnError: false });
  const dataSource = context.get(TransactionalDataSource);
  if (Object.keys(dataSource.options.entities ?? []).length === 0) throw new Error('No module with entities is loaded');
  return dataSource;
}
