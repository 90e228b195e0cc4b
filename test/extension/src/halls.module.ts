import { Body, Controller, Get, Module, Post } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { IsString, Length } from 'class-validator';
import { type Caller, CurrentCaller, ListedEntity, ListedUuidRow, RefersTo, repositoryFor } from 'lanyard';
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
  create(@CurrentCaller() caller: Caller, @Body() body: CreateHallDto) {
    return this.halls.save(repositoryFor(caller, this.halls).create(body));
  }

  @Get()
  find(@CurrentCaller() caller: Caller) {
    return repositoryFor(caller, this.halls).find({ order: { position: 'ASC' } });
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Hall])], controllers: [HallsController] })
export class HallsModule {}
