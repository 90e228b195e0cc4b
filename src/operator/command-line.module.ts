import { Module } from '@nestjs/common';
import { CsvModule } from '../csv/csv.module';
import { DatasetsModule } from '../datasets/datasets.module';
import { DATASETS } from '../sections';

/** What the commands describe in their help and check in their options, before one of them connects to a database. */
@Module({ imports: [DatasetsModule.describing(DATASETS), CsvModule] })
export class CommandLineModule {}
