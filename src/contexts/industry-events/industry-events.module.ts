import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IndustryEventBookmarkEntity, IndustryEventEntity } from './industry-event.entity';
import { IndustryEventsController } from './industry-events.controller';
import { IndustryEventsService } from './industry-events.service';

@Module({
  imports: [TypeOrmModule.forFeature([IndustryEventEntity, IndustryEventBookmarkEntity])],
  controllers: [IndustryEventsController],
  providers: [IndustryEventsService],
  exports: [IndustryEventsService],
})
export class IndustryEventsModule {}
