#!/usr/bin/env node
import { startServer } from './start-server';

const args = process.argv.slice(2).join(' ');
// `npm run operator` is the command line alone.
const starts = args === '' ? process.env.npm_lifecycle_event !== 'operator' : args === 'start';
if (starts) void startServer();
// Loaded only here: it takes half a second and 60 MB, which a process that only waits for the server need not have.
else void (module.require('./run') as typeof import('./run')).run();
