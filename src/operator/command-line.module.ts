import { type DynamicModule, Module } from '@nestjs/common';
import { type Context, ContextsModule } from '../contexts';
import { CsvModule } from '../exchange/csv/csv.module';

/** The services that commands need for their help and options, before one of them connects to a database. */
@Module({})
export class CommandLineModule {
  static with(contexts: readonly Context[]): DynamicModule {
    return { module: CommandLineModule, imports: [ContextsModule.with(contexts), CsvModule] };
  }
}
