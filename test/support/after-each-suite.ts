import { stopAll } from './lanyard';

afterAll(stopAll);
