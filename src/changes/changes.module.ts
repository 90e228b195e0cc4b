import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config';
import { Sweeper } from '../database/sweeper';
import { ChangeEntity } from './change.entity';
import { ChangesController } from './changes.controller';
import { ChangesService } from './changes.service';
import { SWEEP } from './changes.sql';

const SWEPT_AT_ONCE = 1000;

@Module({
  imports: [TypeOrmModule.forFeature([ChangeEntity])],
  controllers: [ChangesController],
  providers: [ChangesService],
  exports: [ChangesService],
})
export class ChangesModule {
  constructor(sweeper: Sweeper, { changesDays }: Config) {
    sweeper.add({ what: 'changes', text: SWEEP, values: [changesDays, SWEPT_AT_ONCE], limit: SWEPT_AT_ONCE });
  }
}
