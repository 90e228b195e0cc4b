import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from '../../src/openapi/document';
import { startInProcess } from '../support/lanyard';

const FILE = join(__dirname, '../../openapi.json');

it('is checked in as the code has it (npm run openapi writes it)', async () => {
  const { app } = await startInProcess();
  const text = `${JSON.stringify(openApiDocument(app), null, 2)}\n`;
  if (process.env.OPENAPI_WRITE) writeFileSync(FILE, text);
  expect(readFileSync(FILE, 'utf8')).toBe(text);
});
