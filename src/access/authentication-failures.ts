import { isIP } from 'node:net';
import { HttpException, Inject, Injectable } from '@nestjs/common';
import { ThrottlerStorage } from '@nestjs/throttler';
import type { Response } from 'express';
import { Config } from '../config';
import { REDIS_DEADLINE, withDeadline } from '../redis/redis';

/** milliseconds over which failures are counted, and for which an address that had too many is refused */
const WINDOW = 60_000;

/**
 * Slows an address that keeps failing to authenticate. Requests with a valid key are never counted and never refused,
 * so that one bad client cannot lock out others behind the same address.
 */
@Injectable()
export class AuthenticationFailures {
  constructor(
    @Inject(ThrottlerStorage) private readonly storage: ThrottlerStorage,
    private readonly config: Config,
  ) {}

  /** @throws HttpException 429 when the address had too many failures within a minute */
  async count(address: string, response: Response): Promise<void> {
    const limit = this.config.authenticationFailures;
    // A counter that is out of reach refuses nobody: a key cannot be guessed, counted or not.
    const counted = this.storage.increment(sourceOf(address), WINDOW, limit, WINDOW, 'authentication-failures');
    const record = await withDeadline(counted, REDIS_DEADLINE).catch(() => undefined);
    if (!record?.isBlocked) return;
    const wait = Math.max(1, record.timeToBlockExpire);
    response.setHeader('X-RateLimit-Limit', limit);
    response.setHeader('X-RateLimit-Remaining', 0);
    response.setHeader('X-RateLimit-Reset', Math.ceil(Date.now() / 1000) + wait);
    response.setHeader('Retry-After', wait);
    throw new HttpException('Too Many Requests', 429);
  }
}

/**
 * By what failures are counted: an IPv4 address, also one that is written as IPv6; of IPv6 the network, since whoever
 * has one address has the 2^64 of its network; and anything else under one name: a proxy may hand on what the client
 * wrote, a different text each time and of any length.
 */
export function sourceOf(address: string): string {
  const version = isIP(address);
  if (version === 0) return 'no address';
  if (version === 4) return address;
  const [head = [], tail = []] = address.replace(/%.*/, '').split('::').map(groupsOf);
  const zeros = Array<number>(8 - head.length - tail.length).fill(0);
  const groups = [...head, ...zeros, ...tail];
  const [high = 0, low = 0] = groups.slice(6);
  if (groups.slice(0, 6).join() === '0,0,0,0,0,65535') return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

/** The 16-bit numbers of a part of an IPv6 address, the last two of which may be written as IPv4. */
function groupsOf(part: string): number[] {
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return group === '' ? [] : [parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
