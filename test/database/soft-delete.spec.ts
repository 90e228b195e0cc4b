import { Column, DataSource, DeleteDateColumn } from 'typeorm';
import { ConfigError } from '../../src/config';
import { trackedListsOf } from '../../src/database/tracked-list';
import { ListedUuidRow } from '../../src/schema/columns';
import { ListedEntity } from '../../src/schema/lists';
import { createTestDatabase } from '../support/database';

@ListedEntity('meetings')
class Meeting extends ListedUuidRow {
  @Column('text') name: string;
  @DeleteDateColumn() deletedAt: Date | null;
}

it('a list whose rows are deleted softly is refused with what to do', async () => {
  const { url } = await createTestDatabase();
  const dataSource = await new DataSource({ type: 'postgres', url, entities: [Meeting] }).initialize();
  const list = () => trackedListsOf(dataSource);
  expect(list).toThrow(ConfigError);
  expect(list).toThrow(/^Meeting is a @ListedEntity with a @DeleteDateColumn \(deletedAt\), .* use @Entity in place/);
  await dataSource.destroy();
});
