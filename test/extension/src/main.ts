import { run } from 'lanyard';
import { extension } from './extension';

void run(extension);
