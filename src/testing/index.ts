/** What the tests of a project may import, as `lanyard/testing`: of one that extends Lanyard, or of a client. */
import 'reflect-metadata';

export {
  startLanyard,
  type TestKeySettings,
  type TestOrganizationOptions,
  type TestLanyard,
  type TestOptions,
  type TestOrganization,
} from './test-lanyard';

export { TenantOracle, type UnscopedStatement } from './tenant-oracle';
