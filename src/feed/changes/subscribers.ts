import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { describeException } from '../../http/pipeline/error.filter';
import { FeedResources } from './feed-resource';
import { ConfigError } from '../../config';
import { isBlank } from '../../fields/text';
import type { DeliveryResult } from './delivery-result';
import { deliveryTurns, type Receivers } from './feed-delivery';
import type { FeedReaderEntity } from './feed-reader.entity';
import type { ReaderPage } from './feed-readers';
import { type Change, type ChangesHandler, type ChangesSubscription, SUBSCRIPTION } from './on-changes';

/** Methods that are called at the same time. They wait for no receiver of a webhook, and no receiver waits for them. */
const MAX_CALLS = 4;
/** Milliseconds for which a stopping server waits for a method. What the method has done by then is called for again. */
const STOP_GRACE_MS = 5_000;
const MAX_NAME_LENGTH = 64;

/** A method with `@OnChanges`. */
export interface Subscriber extends Required<ChangesSubscription> {
  handler: ChangesHandler;
}

/** The methods with `@OnChanges` of all providers, which get the pages of their readers. */
@Injectable()
export class Subscribers implements OnModuleInit, Receivers {
  /** A method stays enabled: a new version of the server repairs it. */
  readonly maxFailingMs = Infinity;
  private readonly logger = new Logger('OnChanges');
  private readonly byName = new Map<string, Subscriber>();
  /** Calls that have not ended, by the id of their row. */
  private readonly calls = new Map<string, Promise<unknown>>();
  private readonly slots = deliveryTurns(MAX_CALLS);

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly resources: FeedResources,
  ) {}

  get all(): Subscriber[] {
    return [...this.byName.values()];
  }

  get names(): string[] {
    return [...this.byName.keys()];
  }

  /** @throws ConfigError when a subscription cannot work */
  onModuleInit(): void {
    for (const wrapper of this.discovery.getProviders()) {
      const instance: unknown = wrapper.instance;
      const prototype = instance ? (Object.getPrototypeOf(instance) as Record<string, ChangesHandler> | null) : null;
      if (!prototype) continue;
      // Nest makes an instance of any other provider only for a request, or for another provider.
      const isSingleton = wrapper.isDependencyTreeStatic() && !wrapper.isTransient;
      for (const method of this.scanner.getAllMethodNames(prototype)) {
        const handler = prototype[method]!;
        const subscription = Reflect.getMetadata(SUBSCRIPTION, handler) as ChangesSubscription | undefined;
        if (subscription) this.add(subscription, method, isSingleton, handler.bind(instance));
      }
    }
  }

  private add(
    { name, resources = [...this.resources.names], start }: ChangesSubscription,
    method: string,
    isSingleton: boolean,
    handler: ChangesHandler,
  ): void {
    const reject = (reason: string): never => {
      throw new ConfigError(`@OnChanges({ name: '${name}' }) on the method ${method}: ${reason}`);
    };
    if (isBlank(name) || name.length > MAX_NAME_LENGTH)
      reject(`the name must have 1 to ${MAX_NAME_LENGTH} characters.`);
    if (this.byName.has(name)) reject('another method has this name. Names must be unique.');
    if (!this.resources.hasNames(resources)) {
      reject(`the resources must be some of ${this.resources.names.join(', ')}, without duplicates.`);
    }
    if (!isSingleton) reject('its provider must not be request-scoped or transient.');
    this.byName.set(name, { name, resources, start, handler });
  }

  inTurn<T>({ organizationId }: FeedReaderEntity, call: () => Promise<T>): Promise<T> {
    return this.slots.run(organizationId, call);
  }

  /**
   * Calls the method of a reader's subscription with a page.
   * @param signal ends the wait for the method, which itself can only be asked to end
   */
  async deliver({ reader, phase, changes, hasMore }: ReaderPage, signal: AbortSignal): Promise<DeliveryResult> {
    const { id, organizationId, subscription } = reader;
    const subscriber = this.byName.get(subscription ?? '');
    if (!subscriber) return { error: 'no method' };
    // The call of an earlier delivery, which was not waited for.
    await this.calls.get(id);
    if (signal.aborted) return { error: 'aborted' };
    const records = changes.map((change) => change.toJSON() as Change);
    const call = this.run(subscriber, organizationId, records, { phase, hasMore, signal });
    this.calls.set(id, call);
    void call.then(() => this.calls.delete(id));
    return Promise.race([call, graceAfter(signal)]);
  }

  private async run({ name, handler }: Subscriber, ...args: Parameters<ChangesHandler>): Promise<DeliveryResult> {
    const [organizationId, , { signal }] = args;
    try {
      await handler(...args);
      return { status: 200 };
    } catch (error) {
      // A method that ends early because it is asked to has not failed.
      if (!signal.aborted) this.logger.error({ subscription: name, organizationId, ...describeException(error) });
      return { error: error instanceof Error ? error.constructor.name : typeof error };
    }
  }
}

async function graceAfter(signal: AbortSignal): Promise<DeliveryResult> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await delay(STOP_GRACE_MS, undefined, { ref: false });
  return { error: 'aborted' };
}
