/**
 * Its module names an entity, which the suites of a shared process would take for one of Lanyard's own.
 * @jest-environment node
 */
import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, Entity, ILike, JoinColumn, ManyToOne, PrimaryColumn, type Repository } from 'typeorm';
import { type OrganizationRepository, repositoryFor } from '../../src/data/database/repository-for';
import { RowNotFound } from '../../src/errors/exceptions';
import { startInProcess } from '../support/lanyard';

@Entity('halls')
class Hall {
  @PrimaryColumn({ type: 'uuid', default: () => 'uuid_v7()' }) id: string;
  @Column('int') organizationId: number;
  @Column('text') name: string;
  @Column({ type: 'int', nullable: true }) seats?: number | null;
  @ManyToOne(() => Hall, { nullable: true, cascade: true }) @JoinColumn() annexOf?: Hall | null;
}

@Entity('shared_rooms')
class SharedRoom {
  @PrimaryColumn('uuid') id: string;
}

@Module({ imports: [TypeOrmModule.forFeature([Hall, SharedRoom])] })
class HallsModule {}

describe('a repository for a caller', () => {
  const [ours, theirs] = [1, 2].map((organizationId) => ({ organizationId, keyId: randomUUID() }));
  let halls: Repository<Hall>;
  let own: OrganizationRepository<Hall>;
  let foreign: Hall;

  beforeAll(async () => {
    const { app } = await startInProcess({}, undefined, { modules: [HallsModule] });
    const db = app.get(DataSource);
    await db.query(`create table halls (
      id uuid primary key default uuid_v7(), organization_id int not null, name text not null, seats int,
      annex_of_id uuid references halls, unique (organization_id, name))`);
    halls = db.getRepository(Hall);
  });
  beforeEach(async () => {
    await halls.query('delete from halls');
    own = repositoryFor(ours!, halls);
    foreign = await repositoryFor(theirs!, halls).save({ name: 'Foreign', seats: 7 });
    await own.insert([{ name: 'North', seats: 80 }, { name: 'South' }]);
  });

  it('finds and counts the rows of the organization only', async () => {
    const { id } = foreign;
    const byName = { order: { name: 'ASC' } } as const;
    expect((await own.find(byName)).map(({ name }) => name)).toEqual(['North', 'South']);
    expect(await own.find({ where: { id } })).toEqual([]);
    expect(await own.findBy([{ id }, { name: 'Foreign' }, { name: 'North' }])).toMatchObject([{ name: 'North' }]);
    expect(await own.find({ where: [] })).toHaveLength(2);
    expect(await own.findAndCount({ ...byName, take: 1 })).toEqual([[expect.objectContaining({ name: 'North' })], 2]);
    expect(await own.findOne({ where: { id } })).toBeNull();
    expect(await own.findOneBy({ name: ILike('f%') })).toBeNull();
    expect(await own.findOneByOrFail({ name: 'South' })).toMatchObject({ organizationId: 1 });
    await expect(own.findOneByOrFail({ id })).rejects.toThrow(RowNotFound);
    expect([await own.count(), await own.countBy({ id }), await own.existsBy({ id })]).toEqual([2, 0, false]);
    expect(await own.existsBy({ name: 'North' })).toBe(true);
  });

  it('does not let a condition name another organization', async () => {
    const where = { organizationId: 2 };
    expect(await own.find({ where })).toHaveLength(2);
    expect(await own.countBy([where, where])).toBe(2);
    expect((await own.update(where, { seats: 1 })).affected).toBe(2);
    expect((await own.delete(where)).affected).toBe(2);
    expect(await halls.find()).toEqual([expect.objectContaining({ name: 'Foreign', seats: 7 })]);
  });

  it('inserts, updates and deletes rows of the organization only', async () => {
    const { id } = foreign;
    expect(own.create({ name: 'East' })).toMatchObject({ name: 'East', organizationId: 1 });
    expect((await own.update({ id }, { name: 'Taken' })).affected).toBe(0);
    expect((await own.delete({ id })).affected).toBe(0);
    expect((await own.update({ name: 'North' }, { seats: 81, organizationId: 2 } as object)).affected).toBe(1);
    expect(await own.findOneBy({ name: 'North' })).toMatchObject({ seats: 81, organizationId: 1 });
    expect(await halls.findOneBy({ id })).toMatchObject({ name: 'Foreign', organizationId: 2 });
  });

  it('saves a new row and a row that it has, and never one of another organization', async () => {
    const made = await own.save({ name: 'West', organizationId: 2 } as { name: string });
    expect(made).toMatchObject({ id: expect.any(String), name: 'West', organizationId: 1 });
    expect(await own.save({ id: made.id, seats: 5 })).toMatchObject({ id: made.id, seats: 5 });
    expect(await own.findOneBy({ id: made.id })).toMatchObject({ name: 'West', seats: 5 });
    const chosen = randomUUID();
    await own.save({ id: chosen, name: 'Chosen', annexOf: { id: made.id } });
    const [annex] = await own.find({ where: { id: chosen }, relations: { annexOf: true } });
    expect(annex?.annexOf).toMatchObject({ name: 'West' });
    await expect(own.save({ id: foreign.id, name: 'Taken' })).rejects.toThrow(RowNotFound);
    await expect(own.save({ name: 'North' })).rejects.toThrow('halls_organization_id_name_key');
    expect(await halls.findOneBy({ id: foreign.id })).toMatchObject({ name: 'Foreign', seats: 7, organizationId: 2 });
  });

  it('stores no rows of relations with a row', async () => {
    const annexOf = { id: foreign.id, name: 'Taken', organizationId: 1 } as Hall;
    await expect(own.save({ name: 'Annex', annexOf })).rejects.toThrow('Hall.annexOf would not be stored');
    expect(await halls.findOneBy({ id: foreign.id })).toMatchObject({ name: 'Foreign', organizationId: 2 });
  });

  it.each([{}, { id: undefined }, { name: 'North', seats: undefined }])(
    'changes nothing without a whole condition: %j',
    (where) => {
      expect(() => own.delete(where)).toThrow('A change of Hall needs a condition without undefined values');
      expect(() => own.update(where, { seats: 1 })).toThrow('without undefined values');
    },
  );

  it('is refused for an entity that belongs to no organization', () => {
    const rooms = halls.manager.getRepository(SharedRoom) as unknown as Repository<Hall>;
    expect(() => repositoryFor(ours!, rooms)).toThrow('SharedRoom has no column organizationId');
  });
});
