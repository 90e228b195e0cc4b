import { dataSource } from './src/start/data-source';

/** The data source of TypeORM's own migration commands. */
export default dataSource();
