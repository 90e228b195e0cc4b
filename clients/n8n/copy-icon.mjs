// The icon stands beside the compiled nodes, where n8n looks for it.
import { copyFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
copyFileSync(here('nodes/Lanyard/lanyard.svg'), here('dist/nodes/Lanyard/lanyard.svg'));
