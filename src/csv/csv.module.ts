import { type DynamicModule, Module } from '@nestjs/common';
import { CsvService } from './csv.service';

/** CSV on top of import and export. */
@Module({})
export class CsvModule {
  /** @param datasets the module that provides the datasets */
  static on(datasets: DynamicModule): DynamicModule {
    return { module: CsvModule, imports: [datasets], providers: [CsvService], exports: [CsvService] };
  }
}
