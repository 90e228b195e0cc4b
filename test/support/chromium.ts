import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Browser, chromium } from 'playwright-core';

/** Debian's name first. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

const executablePath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find((file) => existsSync(file));

export const NO_CHROMIUM = executablePath ? '' : ' (skipped: no chromium on the PATH)';

/** The system's browser, without a window; playwright-core brings none of its own. */
export const startChromium = (): Promise<Browser> => chromium.launch({ executablePath });
