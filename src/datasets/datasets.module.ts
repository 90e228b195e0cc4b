import { Module, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Datasets } from './dataset';
import { ExportService } from './export.service';
import { ImportService } from './import.service';
import { checkRecords } from './record-fields';

const services = [ImportService, ExportService];

/** Import and export of the sections of all contexts, which `Datasets` has. */
@Module({ providers: services, exports: services })
export class DatasetsModule implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly datasets: Datasets,
  ) {}

  onModuleInit(): void {
    checkRecords(this.dataSource, this.datasets);
  }
}
