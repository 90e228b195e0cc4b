import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

it('is as openapi.json has it (npm run openapi writes it anew)', async () => {
  await promisify(execFile)(process.execPath, [join(__dirname, '../../clients/postman/generate.mjs'), '--check']);
});
