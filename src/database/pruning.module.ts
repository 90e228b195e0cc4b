import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { Pruner } from './pruner';

/** Starts the pruning of expired rows. Only servers import it. */
@Module({})
export class PruningModule implements OnApplicationBootstrap {
  constructor(private readonly pruner: Pruner) {}

  onApplicationBootstrap(): void {
    this.pruner.start();
  }
}
