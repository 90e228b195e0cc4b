import { Module } from '@nestjs/common';
import { TagGroupsController } from './tag-groups.controller';
import { TagGroupsRepository } from './tag-groups.repository';

@Module({ controllers: [TagGroupsController], providers: [TagGroupsRepository] })
export class TagGroupsModule {}
