import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { openApiDocument } from '../../src/openapi/document';
import { startInProcess } from '../support/lanyard';

const file = (name: string): string => join(__dirname, '../..', name);
const read = (name: string): string => readFileSync(file(name), 'utf8');

it('is checked in as the code has it (npm run openapi writes it)', async () => {
  const { app } = await startInProcess();
  const text = `${JSON.stringify(openApiDocument(app), null, 2)}\n`;
  if (process.env.OPENAPI_WRITE) {
    writeFileSync(file('openapi.json'), text);
    writeFileSync(file('openapi.yaml'), stringify(JSON.parse(text), { lineWidth: 120, aliasDuplicateObjects: false }));
  }
  expect(read('openapi.json')).toBe(text);
  expect(parse(read('openapi.yaml'))).toEqual(JSON.parse(text));
});
