/**
 * Its module names entities, which the suites of a shared process would take for Lanyard's own.
 * @jest-environment node
 */
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, Entity, JoinColumn, JoinTable, ManyToMany, ManyToOne, PrimaryColumn } from 'typeorm';
import { functionsBeforeMigrations, VALUE_FUNCTIONS } from '../../src/data/schema/functions';
import { startInProcess } from '../support/lanyard';

class PostalAddress {
  @Column() streetName: string;
  @Column({ name: 'zip' }) postalCode: string;
}

@Entity()
class FloorPlan {
  @PrimaryColumn() planId: number;
}

@Entity()
class ExhibitionHall {
  @PrimaryColumn() id: number;
  @Column() hallName: string;
  @Column(() => PostalAddress) homeAddress: PostalAddress;
  @ManyToOne(() => FloorPlan) floorPlan: FloorPlan;
  @ManyToOne(() => FloorPlan) @JoinColumn({ name: 'old_plan' }) formerPlan: FloorPlan;
  @ManyToMany(() => FloorPlan) @JoinTable() otherPlans: FloorPlan[];
}

@Module({ imports: [TypeOrmModule.forFeature([FloorPlan, ExhibitionHall])] })
class HallsModule {}

it('names the tables and columns of a module in snake_case, those of relations too', async () => {
  const { app } = await startInProcess({}, undefined, { modules: [HallsModule] });
  const { tableName, columns, manyToManyRelations } = app.get(DataSource).getMetadata(ExhibitionHall);
  expect(tableName).toBe('exhibition_hall');
  expect(columns.map(({ databaseName }) => databaseName).sort()).toEqual([
    'floor_plan_plan_id',
    'hall_name',
    'home_address_street_name',
    'home_address_zip',
    'id',
    'old_plan',
  ]);
  const joined = manyToManyRelations[0]?.junctionEntityMetadata;
  expect(joined?.tableName).toBe('exhibition_hall_other_plans_floor_plan');
  expect(joined?.columns.map(({ databaseName }) => databaseName)).toEqual(['exhibition_hall_id', 'floor_plan_plan_id']);
  // The table between two entities has no class to ask for its functions.
  expect(functionsBeforeMigrations(app.get(DataSource))).toContain(VALUE_FUNCTIONS);
});
