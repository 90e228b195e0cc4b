import { dataSource } from './src/extensions/data-source';

/** The data source of TypeORM's own migration commands. */
export default dataSource();
