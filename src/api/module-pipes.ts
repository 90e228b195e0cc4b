import { type ArgumentMetadata, Injectable, type OnModuleInit, type Type, ValidationPipe } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { CHECKED_PARTS, type CheckedPart, partsWithOwnPipe } from './body-options';
import { usesOnlyFieldDecorators } from './field-rules';
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
    for (const pipe of this.globalPipes) leaveFieldsAlone(pipe);
  }

  /** The parts of a request to a handler that a ValidationPipe of a module checks. */
  partsOf(context: HandlerContext): CheckedPart[] {
    return this.globalPipes.length > 0 ? [...CHECKED_PARTS] : partsWithOwnPipe(context);
  }
}

/** A pipe for all handlers of the server would convert and check the bodies of Lanyard's own handlers a second time. */
function leaveFieldsAlone(pipe: ValidationPipe): void {
  const transform = pipe.transform.bind(pipe);
  pipe.transform = (value: unknown, metadata: ArgumentMetadata): Promise<unknown> => {
    const { metatype } = metadata;
    const isChecked = typeof metatype === 'function' && usesOnlyFieldDecorators(metatype as Type<object>);
    return isChecked ? Promise.resolve(value) : (transform(value, metadata) as Promise<unknown>);
  };
}
