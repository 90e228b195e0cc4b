import type { ClassProvider, FactoryProvider, InjectionToken, ValueProvider } from '@nestjs/common';
import { type NestContainer, NestFactory } from '@nestjs/core';
import { ConfigError } from '../config';

/** A provider that takes the place of the one that a module has for the same token. */
export type ReplacingProvider = ClassProvider | ValueProvider | FactoryProvider;

/** The private method of Nest's factory that reads all modules into the container, and then creates their providers. */
interface Initializer {
  initialize(module: unknown, container: NestContainer, ...others: unknown[]): Promise<void>;
}

/**
 * Nest's factory of applications, with providers that take the place of those of modules. Nest has `overrideProvider` for
 * tests only; this does the same at the same moment (docs/decisions/0026).
 */
export function factoryWith(providers: readonly ReplacingProvider[] = []): typeof NestFactory {
  if (providers.length === 0) return NestFactory;
  const factory = Object.create(NestFactory) as typeof NestFactory;
  const initializer = factory as unknown as Initializer;
  const initialize = initializer.initialize.bind(factory);
  initializer.initialize = async (module, container, ...others) => {
    const pending = new Set(providers);
    const bindGlobalScope = container.bindGlobalScope.bind(container);
    // The last step of reading the modules.
    container.bindGlobalScope = () => {
      for (const provider of providers) {
        replaceProvider(container, provider);
        pending.delete(provider);
      }
      bindGlobalScope();
    };
    await initialize(module, container, ...others);
    for (const { provide } of pending) throw uselessError(provide);
  };
  return factory;
}

const KINDS = ['useClass', 'useFactory', 'useValue'];

/** @throws ConfigError when no module has a provider of the token, or the new one is of a kind that cannot replace it */
function replaceProvider(container: NestContainer, provider: ReplacingProvider): void {
  const { provide } = provider;
  const modules = [...container.getModules().values()].filter((module) => module.hasProvider(provide));
  if (modules.length === 0 || !KINDS.some((kind) => kind in provider)) throw uselessError(provide);
  for (const module of modules) module.replace(provide, { ...provider, isProvider: true });
}

const tokenName = (token: InjectionToken): string => (typeof token === 'function' ? token.name : String(token));

const uselessError = (token: InjectionToken): ConfigError =>
  new ConfigError(
    `The provider of ${tokenName(token)} in defineExtension() has no effect: it must have useClass, useValue or useFactory, ` +
      'and a module must provide that token. Put a provider that replaces nothing into a module.',
  );
