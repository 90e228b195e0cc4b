import { Body, Controller, Get, Module, Post } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { IsString, Length } from 'class-validator';
import { type Caller, CurrentCaller, ListedEntity, ListedUuidRow, RefersTo } from 'lanyard';
import { Column, Repository } from 'typeorm';

@ListedEntity('halls')
@RefersTo('OrganizationEntity', 'organizationId', 'halls_organization_fkey')
export class Hall extends ListedUuidRow {
  @Column('text') name: string;
}

class CreateHallDto {
  @IsString() @Length(1, 50) name: string;
}

@Controller('halls')
class HallsController {
  constructor(@InjectRepository(Hall) private readonly halls: Repository<Hall>) {}

  @Post()
  create(@CurrentCaller() { organizationId }: Caller, @Body() body: CreateHallDto) {
    return this.halls.save({ ...body, organizationId });
  }

  @Get()
  find(@CurrentCaller() { organizationId }: Caller) {
    return this.halls.find({ where: { organizationId }, order: { position: 'ASC' } });
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Hall])], controllers: [HallsController] })
export class HallsModule {}
