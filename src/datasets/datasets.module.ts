import { Module } from '@nestjs/common';
import { CsvService } from '../csv/csv.service';
import { ExportService } from './export.service';
import { ImportService } from './import.service';

const services = [ImportService, ExportService, CsvService];

/** Import, export and CSV of the sections of all contexts, which `Datasets` has. */
@Module({ providers: services, exports: services })
export class DatasetsModule {}
