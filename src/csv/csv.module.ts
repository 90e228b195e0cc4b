import { Module } from '@nestjs/common';
import { CsvService } from './csv.service';

/** CSV over the datasets of the contexts. */
@Module({ providers: [CsvService], exports: [CsvService] })
export class CsvModule {}
