#!/usr/bin/env node
import { run } from './start/run';

void run();
