import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { Sweeper } from './sweeper';

/** Starts the removal of what has expired. A server imports it; a command has other work. */
@Module({})
export class PruningModule implements OnApplicationBootstrap {
  constructor(private readonly sweeper: Sweeper) {}

  onApplicationBootstrap(): void {
    this.sweeper.start();
  }
}
