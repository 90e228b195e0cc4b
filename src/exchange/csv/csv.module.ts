import { Module } from '@nestjs/common';
import { CsvService } from './csv.service';

/** CSV on top of import and export. */
@Module({ providers: [CsvService], exports: [CsvService] })
export class CsvModule {}
