import { Injectable } from '@nestjs/common';
import { Config } from '../../config';
import { ReservedConnection } from '../../data/database/reserved-connection';

/** An arbitrary constant. Every server without Redis holds this advisory lock in shared mode. */
const LOCAL_LIMITS_LOCK = 7_261_916;

/** The number of servers without Redis on this database. Each of them enforces rate limits on its own. */
export const COUNT_SERVERS_WITHOUT_REDIS = `
  select count(*)::integer as servers from pg_locks
  where locktype = 'advisory' and classid = 0 and objid = ${LOCAL_LIMITS_LOCK} and objsubid = 1
    and database = (select oid from pg_database where datname = current_database())`;

/**
 * Servers without Redis each enforce rate limits on their own, and detect each other by an advisory lock. The connection on
 * which this process would deliver webhooks holds it.
 */
@Injectable()
export class LocalLimits {
  constructor(
    private readonly connection: ReservedConnection,
    private readonly config: Config,
  ) {
    if (config.redisUrl) return;
    connection.whenOpened((manager) => manager.query('select pg_advisory_lock_shared($1)', [LOCAL_LIMITS_LOCK]));
  }

  /** The warning, in one line, if other servers without Redis use this database, because each grants a key its full limits. */
  async warning(): Promise<string | undefined> {
    if (this.config.redisUrl) return undefined;
    try {
      await this.connection.open();
      const [{ servers }] = await this.connection.run((manager) =>
        manager.query<[{ servers: number }]>(COUNT_SERVERS_WITHOUT_REDIS),
      );
      if (servers < 2) return undefined;
      return (
        `${servers} servers without Redis use this database, so each API key gets its limits ${servers} times. ` +
        'Set REDIS_URL on all of them to share the limits.'
      );
    } catch {
      // A server that cannot detect others works as well as one that has no others.
      return undefined;
    }
  }
}
