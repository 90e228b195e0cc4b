import { devNull } from 'node:os';
import { RedisServer as Daemon } from '../../prove/support/redis-server';
import { freePort } from './free-port';
import { runAtEnd } from '../jest/at-the-end';
import { missingProgramReason } from '../skipping';

export const NO_SERVER = missingProgramReason('redis-server', 'redis-cli');
export const NO_REDIS = process.env.REDIS_URL ? '' : NO_SERVER;

/** A Redis of a suite's own, which it may kill and start again; it ends with the suite. */
export class RedisServer extends Daemon {
  static async start(...options: string[]): Promise<RedisServer> {
    const redis = new RedisServer(devNull, await freePort());
    runAtEnd(() => redis.kill());
    await redis.start(...options);
    return redis;
  }
}

/** The URL of the Redis that REDIS_URL names, or of one of the suite's own. */
export const redisUrl = async (): Promise<string> => process.env.REDIS_URL || (await RedisServer.start()).url;
