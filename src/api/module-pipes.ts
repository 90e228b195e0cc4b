import { Injectable, ValidationPipe } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { CHECKED_PARTS, type CheckedPart, partsWithOwnPipe } from './body-options';
import type { HandlerContext } from './handler-metadata';

/** Knows where a module brings a ValidationPipe of its own, whose options count there. */
@Injectable()
export class ModulePipes {
  private hasGlobalPipe: boolean | undefined;

  constructor(private readonly modules: ModulesContainer) {}

  /** The parts of a request to a handler that a ValidationPipe of a module checks. */
  partsOf(context: HandlerContext): CheckedPart[] {
    this.hasGlobalPipe ??= this.findGlobalPipe();
    return this.hasGlobalPipe ? [...CHECKED_PARTS] : partsWithOwnPipe(context);
  }

  /** Whether a module has a ValidationPipe as its `APP_PIPE`. */
  private findGlobalPipe(): boolean {
    const providers = [...this.modules.values()].flatMap((module) => [...module.providers.values()]);
    return providers.some(({ subtype, instance }) => subtype === 'pipe' && instance instanceof ValidationPipe);
  }
}
