import { Module } from '@nestjs/common';
import { CONTEXTS, ContextsModule } from '../contexts';
import { CsvModule } from '../csv/csv.module';

/** The services that commands need for their help and options, before one of them connects to a database. */
@Module({ imports: [ContextsModule.with(CONTEXTS), CsvModule] })
export class CommandLineModule {}
