// For check.service.ts, until it imports this from lists.ts.
export { LEAST_UUID } from './lists';
