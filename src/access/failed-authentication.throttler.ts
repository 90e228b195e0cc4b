import { hash } from 'node:crypto';
import { HttpException, HttpStatus, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { Config } from '../config';
import { BUCKET_HEADERS } from '../http/rate-limit/token-bucket.interceptor';

const WINDOW_MS = 60_000;
/** A single IPv6 /44 has a million networks, so only those that failed last are remembered. */
const MAX_NETWORKS = 10_000;

/**
 * Slows down an address (a /64 for IPv6) that keeps failing to authenticate, by its failures in this process. ApiKeyGuard
 * consults it only after a failure, so that one bad client cannot lock out others that share its address.
 */
@Injectable()
export class FailedAuthenticationThrottler {
  private readonly failures = new LRUCache<string, { count: number }>({ max: MAX_NETWORKS });

  constructor(private readonly config: Config) {}

  /** Counts a failure of the client. @throws HttpException 429 when there were too many, with the headers of an empty bucket */
  countFailure({ ip = '' }: Pick<Request, 'ip'>, response: Pick<Response, 'setHeader'>): void {
    const { authenticationFailures: max } = this.config;
    // A proxy that passes on what a client sends may name an address of any length.
    const key = hash('sha256', networkOf(ip), 'base64');
    const failures = this.failures.get(key) ?? { count: 0 };
    failures.count++;
    // The first failure starts a minute, and the first one too many starts another.
    if (failures.count === 1 || failures.count === max + 1) this.failures.set(key, failures, { ttl: WINDOW_MS });
    if (failures.count <= max) return;
    const waitSeconds = Math.max(1, Math.ceil(this.failures.getRemainingTTL(key) / 1000));
    const [limit, remaining, reset] = BUCKET_HEADERS;
    response.setHeader(limit, max);
    response.setHeader(remaining, 0);
    response.setHeader(reset, Math.ceil(Date.now() / 1000) + waitSeconds);
    response.setHeader('Retry-After', waitSeconds);
    throw new HttpException('Too Many Requests', HttpStatus.TOO_MANY_REQUESTS);
  }
}

/** An IPv4 address, or the first 64 bits of an IPv6 address: whoever has one of these addresses has all of them. */
function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address instanceof ipaddr.IPv6 ? address.parts.slice(0, 4).join(':') : address.toString();
}
