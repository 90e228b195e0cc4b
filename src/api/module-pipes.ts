import { Injectable, type OnModuleInit, ValidationPipe } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { CHECKED_PARTS, type CheckedPart, partsWithOwnPipe } from './body-options';
import type { HandlerContext } from './handler-metadata';

/** Knows where a module brings a ValidationPipe of its own, whose options count there. */
@Injectable()
export class ModulePipes implements OnModuleInit {
  /** Those that modules have as their `APP_PIPE`. */
  private globalPipes: ValidationPipe[] = [];

  constructor(private readonly modules: ModulesContainer) {}

  onModuleInit(): void {
    const providers = [...this.modules.values()].flatMap((module) => [...module.providers.values()]);
    const pipes = providers.filter(({ subtype }) => subtype === 'pipe').map(({ instance }) => instance as unknown);
    this.globalPipes = pipes.filter((pipe) => pipe instanceof ValidationPipe);
  }

  /** The parts of a request to a handler that a ValidationPipe of a module checks. */
  partsOf(context: HandlerContext): CheckedPart[] {
    return this.globalPipes.length > 0 ? [...CHECKED_PARTS] : partsWithOwnPipe(context);
  }
}
