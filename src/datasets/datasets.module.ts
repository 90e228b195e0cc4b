import { type DynamicModule, Module } from '@nestjs/common';
import { CsvService } from '../csv/csv.service';
import { Datasets } from './dataset';
import { ExportService } from './export.service';
import { ImportService } from './import.service';

const services = [ImportService, ExportService, CsvService];

/** Import, export and CSV over the datasets of the contexts. */
@Module({})
export class DatasetsModule {
  static of(datasets: Datasets): DynamicModule {
    const providers = [{ provide: Datasets, useValue: datasets }, ...services];
    return { module: DatasetsModule, providers, exports: services };
  }
}
