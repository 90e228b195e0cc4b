import { Module } from '@nestjs/common';
import { ExportService } from './export.service';
import { ImportService } from './import.service';

const services = [ImportService, ExportService];

/** Import and export of the sections of all contexts, which `Datasets` has. */
@Module({ providers: services, exports: services })
export class DatasetsModule {}
