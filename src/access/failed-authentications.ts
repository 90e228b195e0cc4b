import { hash } from 'node:crypto';
import { HttpException, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { Config } from '../config';

const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;

/**
 * Slows down an address (a /64 for IPv6) that keeps failing to authenticate. ApiKeyGuard consults it only after a failure,
 * so that one bad client cannot lock out others that share its address. Each process counts on its own.
 */
@Injectable()
export class FailedAuthentications {
  /** A single IPv6 /44 provides a million addresses, so their number is bounded. */
  private readonly counts = new LRUCache<string, { failures: number }>({ max: MAX_ADDRESSES, ttl: WINDOW_MS });

  constructor(private readonly config: Config) {}

  /** @throws HttpException with status 429 if there were too many failures within a minute */
  count(address: string, response: Pick<Response, 'setHeader'>): void {
    const limit = this.config.authenticationFailures;
    const network = networkOf(address);
    const count = this.counts.get(network) ?? { failures: 0 };
    count.failures++;
    // The first failure starts a minute, and the first one over the limit starts another.
    if (count.failures === 1 || count.failures === limit + 1) this.counts.set(network, count);
    if (count.failures <= limit) return;
    const waitSeconds = Math.max(1, Math.ceil(this.counts.getRemainingTTL(network) / 1000));
    response.setHeader('X-RateLimit-Limit', limit);
    response.setHeader('X-RateLimit-Remaining', 0);
    response.setHeader('X-RateLimit-Reset', Math.ceil(Date.now() / 1000) + waitSeconds);
    response.setHeader('Retry-After', waitSeconds);
    throw new HttpException('Too Many Requests', 429);
  }
}

/** The first 64 bits of an address; an IPv4 address has fewer. */
function networkOf(address: string): string {
  // A proxy that passes on what a client sends may name a text of any length.
  if (!ipaddr.isValid(address)) return hash('sha256', address, 'base64');
  return ipaddr.process(address).toByteArray().slice(0, 8).join('.');
}
