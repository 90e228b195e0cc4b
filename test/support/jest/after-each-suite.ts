import { endAll } from './at-the-end';
import { failUnscoped } from '../oracle';

afterEach(failUnscoped);
/** Servers and databases that a suite has started and made end with it. */
afterAll(async () => {
  await endAll();
  failUnscoped();
});
