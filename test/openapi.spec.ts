import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../src/app.module';
import { Config } from '../src/config';
import { openApiDocument } from '../src/openapi';
import { PREFIX } from '../src/app';
import { testDatabase } from './support/database';

const FILE = join(__dirname, '../openapi.json');

it('is checked in as the code has it (npm run openapi writes it anew)', async () => {
  const database = await testDatabase();
  const app = await NestFactory.create(AppModule.with(new Config({ databaseUrl: database.url })), { logger: false });
  app.setGlobalPrefix(PREFIX, { exclude: ['health/live', 'health/ready'] });
  const text = `${JSON.stringify(openApiDocument(app), null, 2)}\n`;
  await app.close();
  await database.drop();
  if (process.env.OPENAPI_WRITE) writeFileSync(FILE, text);
  expect(readFileSync(FILE, 'utf8')).toBe(text);
});
