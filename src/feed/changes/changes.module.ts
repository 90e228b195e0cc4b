import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ChangeEntity } from './change.entity';
import { ChangesController } from './changes.controller';
import { ChangesService } from './changes.service';
import { FeedReaderEntity } from './feed-reader.entity';
import { SubscriptionEntity } from './subscription.entity';

@Module({
  imports: [TypeOrmModule.forFeature([ChangeEntity, FeedReaderEntity, SubscriptionEntity])],
  controllers: [ChangesController],
  providers: [ChangesService],
  exports: [TypeOrmModule, ChangesService],
})
export class ChangesModule {}
