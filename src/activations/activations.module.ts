import { Module } from '@nestjs/common';
import { ActivationsController } from './activations.controller';
import { ActivationsRepository } from './activations.repository';

@Module({ controllers: [ActivationsController], providers: [ActivationsRepository] })
export class ActivationsModule {}
