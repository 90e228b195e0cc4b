import { dropAll } from './database';
import { stopAll } from './lanyard';
import { failUnscoped, report } from './oracle';

afterEach(failUnscoped);
/** Servers and databases that a suite has started and made end with it. */
afterAll(async () => {
  await stopAll();
  await dropAll();
  report();
  failUnscoped();
});
