import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/access.module';
import { ErasedPersonsService } from './erased-persons.service';
import { PersonsService } from './persons.service';

@Module({
  imports: [AccessModule],
  providers: [PersonsService, ErasedPersonsService],
  exports: [PersonsService, ErasedPersonsService],
})
export class PersonsModule {}
