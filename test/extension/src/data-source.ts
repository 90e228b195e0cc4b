import { dataSource } from 'lanyard';
import { extension } from './extension';

export default dataSource(extension);
