import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ChangeEntity } from './change.entity';
import { ChangesController } from './changes.controller';
import { ChangesService } from './changes.service';
import { SentChanges } from './sent-changes';

@Module({
  imports: [TypeOrmModule.forFeature([ChangeEntity])],
  controllers: [ChangesController],
  providers: [ChangesService, SentChanges],
  exports: [ChangesService, SentChanges],
})
export class ChangesModule {}
