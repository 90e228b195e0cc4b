import { type DynamicModule, Module } from '@nestjs/common';
import { Datasets } from './dataset';
import { ExportService } from './export.service';
import { ImportService } from './import.service';

/** Import and export over the datasets of the contexts. */
@Module({})
export class DatasetsModule {
  static of(datasets: Datasets): DynamicModule {
    const services = [ImportService, ExportService];
    const { providers, exports } = DatasetsModule.describing(datasets);
    return {
      module: DatasetsModule,
      global: true,
      providers: [...(providers ?? []), ...services],
      exports: [...(exports ?? []), ...services],
    };
  }

  /** The datasets alone, for who has no database. */
  static describing(datasets: Datasets): DynamicModule {
    return {
      module: DatasetsModule,
      global: true,
      providers: [{ provide: Datasets, useValue: datasets }],
      exports: [Datasets],
    };
  }
}
