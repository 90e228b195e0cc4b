import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TagGroupEntity, TagOptionEntity } from './tag-group.entity';
import { TagGroupsController } from './tag-groups.controller';
import { TagGroupsService } from './tag-groups.service';

@Module({
  imports: [TypeOrmModule.forFeature([TagGroupEntity, TagOptionEntity])],
  controllers: [TagGroupsController],
  providers: [TagGroupsService],
  exports: [TagGroupsService],
})
export class TagGroupsModule {}
