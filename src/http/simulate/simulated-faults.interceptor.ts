import { setTimeout as pause } from 'node:timers/promises';
import { type CallHandler, type ExecutionContext, HttpException, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { type LimitedCaller, ORGANIZATION_HEADER, REFILL_HEADER } from '../pipeline/caller';
import { errorText } from '../../errors/error-response';
import { parsePreferences, SIMULATE_HEADER } from '../pipeline/preferences';
import { PREFIX } from '../../config';
import {
  IdempotencyKeyInUse,
  InvalidRequest,
  MissingApiKey,
  RejectedApiKey,
  RowNotFound,
} from '../../errors/exceptions';
import { toTakeResult, storedLimits } from '../rate-limit/token-bucket';
import { BUCKET_HEADERS, TokenBucketInterceptor } from '../rate-limit/token-bucket.interceptor';
import { cutOff } from './cut-off';
import { type Faults, isTriggered, parseFaults } from './faults';

/** The only path whose cursors expire. */
const FEED_PATH = `/${PREFIX}/changes`;

/** Sequences of requests that are counted at the same time. */
const MAX_SEQUENCES = 10_000;

/** Says in every answer of a server that it simulates faults: nobody should take it for one in production. */
export const withSimulationHeader =
  <Next>(step: (request: Request, response: Response, next: Next) => void) =>
  (request: Request, response: Response, next: Next): void => {
    response.setHeader(SIMULATE_HEADER, 'on');
    step(request, response, next);
  };

/**
 * In the place of the token bucket on a server for tests: what the header of a request or the setting of its key asks for
 * happens behind the token. A simulated 429 takes none.
 */
@Injectable()
export class SimulatedFaultsInterceptor extends TokenBucketInterceptor {
  /** The number of requests so far, by their key and the faults that they ask for. */
  private readonly sequences = new LRUCache<string, number>({ max: MAX_SEQUENCES });

  protected override async handle(
    request: Request,
    response: Response,
    context: ExecutionContext,
    next: CallHandler,
  ): Promise<Observable<unknown>> {
    const passOn = (handler = next) => super.handle(request, response, context, handler);
    const { caller } = request;
    const faultsText = caller?.simulate ?? request.headers[SIMULATE_HEADER.toLowerCase()];
    if (!caller || faultsText === undefined || faultsText === null) return passOn();
    const isOfKey = caller.simulate !== null;
    // A key with faults of its own ignores the header.
    request.isSimulated = !isOfKey;
    const faults = parseFaults(String(faultsText));
    const isWithoutEffect = faults && !canExpire(request, faults) && (isOfKey || request.path === FEED_PATH);
    if (isWithoutEffect || (faults && !this.isNextTriggered(`${caller.keyId} ${String(faultsText)}`, faults)))
      return passOn();
    if (faults?.status === 429)
      return from(applyFaults(faults, response, () => this.rejectWithEmptyBucket(caller, response)));
    return passOn({
      handle: () => {
        if (!faults) throw new InvalidRequest(`header ${SIMULATE_HEADER}`, 'format');
        if (!canExpire(request, faults)) throw new InvalidRequest(`header ${SIMULATE_HEADER}`, 'unsupported');
        const { status } = faults;
        const handle = () => (status ? throwSimulatedError(status, request, response) : lastValueFrom(next.handle()));
        return from(applyFaults(faults, response, handle));
      },
    });
  }

  private isNextTriggered(sequence: string, faults: Faults): boolean {
    const nth = this.sequences.get(sequence) ?? 0;
    this.sequences.set(sequence, nth + 1);
    return isTriggered(faults, nth);
  }

  /** As an empty bucket does. @throws HttpException */
  private async rejectWithEmptyBucket(caller: LimitedCaller, response: Response): Promise<void> {
    const now = Date.now() * 1000;
    this.applyResult(response, caller, toTakeResult({ tokens: 0, time: now, ...storedLimits(caller) }, false, now));
  }
}

/** Whether the request can have the status of the faults: a 410 needs a cursor. */
const canExpire = ({ path, query }: Request, { status }: Faults): boolean =>
  status !== 410 || (path === FEED_PATH && query.cursor !== undefined);

/** Delays, cuts and truncates what the handler answers, errors too. */
function applyFaults(faults: Faults, response: Response, handle: () => Promise<unknown>): Promise<unknown> {
  const { drop, delay = 0, truncate } = faults;
  const result = drop === 'before' ? Promise.resolve() : handle();
  return result.finally(async () => {
    await pauseWhileOpen(response, delay);
    if (drop) response.socket?.destroy();
    if (truncate !== undefined) cutOff(response, truncate);
  });
}

/** A client that has left is not waited for: its request would be kept for as long. */
async function pauseWhileOpen(response: Response, milliseconds: number): Promise<void> {
  if (response.destroyed) return;
  const closed = new AbortController();
  const close = (): void => closed.abort();
  response.once('close', close);
  await pause(milliseconds, undefined, { ref: false, signal: closed.signal }).catch(() => undefined);
  response.off('close', close);
}

/** The exceptions of statuses whose responses have more than the status. */
const EXCEPTIONS: Record<number, () => Error> = {
  401: () => new MissingApiKey(),
  403: () => new RejectedApiKey(),
  404: () => new RowNotFound(),
  409: () => new IdempotencyKeyInUse(),
};

/** Responses without a valid key lack these. */
const HEADERS_OF_KEYS = [...BUCKET_HEADERS, ORGANIZATION_HEADER, REFILL_HEADER];

/** The error of a status, with the headers that the real one has. */
async function throwSimulatedError(status: number, request: Request, response: Response): Promise<never> {
  if (status === 401 || status === 403) for (const name of HEADERS_OF_KEYS) response.removeHeader(name);
  else parsePreferences(request, response);
  if (status === 408) response.setHeader('Connection', 'close');
  const create = EXCEPTIONS[status];
  throw create ? create() : new HttpException(errorText(status), status);
}
