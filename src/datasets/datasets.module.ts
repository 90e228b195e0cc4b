import { type DynamicModule, Module } from '@nestjs/common';
import { Datasets } from './dataset';
import { ExportService } from './export.service';
import { ImportService } from './import.service';

/** Import and export of the datasets of all contexts. */
@Module({})
export class DatasetsModule {
  static of(datasets: Datasets): DynamicModule {
    const providers = [{ provide: Datasets, useValue: datasets }, ImportService, ExportService];
    return { module: DatasetsModule, providers, exports: [Datasets, ImportService, ExportService] };
  }
}
