import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { Pruner } from './pruner';

/** Starts the removal of what has expired. A server imports it; a command has other work. */
@Module({})
export class PruningModule implements OnApplicationBootstrap {
  constructor(private readonly pruner: Pruner) {}

  onApplicationBootstrap(): void {
    this.pruner.start();
  }
}
