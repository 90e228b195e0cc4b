import { Module } from '@nestjs/common';
import { CONTEXTS, ContextsModule } from '../contexts';
import { CsvModule } from '../csv/csv.module';

/** What the commands describe in their help and check in their options, before one of them connects to a database. */
@Module({ imports: [ContextsModule.with(CONTEXTS), CsvModule] })
export class CommandLineModule {}
