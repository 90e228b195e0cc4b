import { Module, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Datasets } from './dataset';
import { ExportService } from './export.service';
import { FormerRecords } from './former-records';
import { ImportService } from './import.service';
import { checkRecords } from './record-fields';
import { UndoService } from './undo.service';

const services = [ImportService, ExportService, FormerRecords, UndoService];

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
