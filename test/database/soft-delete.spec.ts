import { Column, DataSource, DeleteDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { ConfigError } from '../../src/config';
import { repositoryFor } from '../../src/data/database/repository-for';
import { trackedListsOf } from '../../src/data/database/tracked-list';
import { ListedUuidRow } from '../../src/data/schema/columns';
import { ListedEntity } from '../../src/data/schema/lists';
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

@Entity('packages')
class Package {
  @PrimaryColumn('int') id: number;
  @Column('int', { name: 'organization_id' }) organizationId: number;
  @DeleteDateColumn() deletedAt: Date | null;
}

it('a plain entity is deleted softly and restored, in its own organization only', async () => {
  const { url } = await createTestDatabase();
  const dataSource = await new DataSource({ type: 'postgres', url, entities: [Package] }).initialize();
  const packages = dataSource.getRepository(Package);
  await dataSource.query('create table packages (id int primary key, organization_id int, "deletedAt" timestamptz)');
  const of = (organizationId: number) => repositoryFor({ organizationId, keyId: '' }, packages);
  await of(1).insert({ id: 7 });

  expect(await of(2).softDelete({ id: 7 })).toMatchObject({ affected: 0 });
  expect(await of(1).count()).toBe(1);
  expect(await of(1).softDelete({ id: 7 })).toMatchObject({ affected: 1 });
  expect(await of(1).findBy({ id: 7 })).toEqual([]);
  expect(await of(1).find({ withDeleted: true })).toHaveLength(1);
  expect(await of(2).restore({ id: 7 })).toMatchObject({ affected: 0 });
  expect(await of(1).restore({ id: 7 })).toMatchObject({ affected: 1 });
  expect(await of(1).count()).toBe(1);
  expect(() => of(1).softDelete({})).toThrow('needs a condition');
  await dataSource.destroy();
});
