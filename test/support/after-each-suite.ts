import { stopAll } from './lanyard';
import { failUnscoped, report } from './oracle';

afterEach(failUnscoped);
afterAll(async () => {
  await stopAll();
  report();
  failUnscoped();
});
