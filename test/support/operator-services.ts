import { type INestApplicationContext, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Config } from '../../src/config';
import { OperatorModule } from '../../src/operator/operator.module';
import { runAtEnd } from './jest/at-the-end';

// Commands run within this process, and a server that is started has a log of its own.
Logger.overrideLogger(false);

/** The services of the operator's commands on a database, until the end of the suite or until they are closed. */
export async function operatorServices(
  databaseUrl: string,
  settings: Partial<Config> = {},
): Promise<INestApplicationContext> {
  const root = OperatorModule.with(new Config({ ...settings, databaseUrl }));
  const services = await NestFactory.createApplicationContext(root, { abortOnError: false });
  const close = services.close.bind(services);
  services.close = runAtEnd(() => close());
  return services;
}
