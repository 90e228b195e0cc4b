import { QueryFailedError } from 'typeorm';
import {
  breaksConnection,
  isConnectionFault,
  isOverload,
  isUnreachable,
  Overloaded,
  retried,
  Retry,
} from '../../src/database/errors';

/** As PostgreSQL's errors arrive through pg, and through TypeORM. */
const fromPg = (code: string, constraint?: string): Error => Object.assign(new Error('refused'), { code, constraint });
const throughTypeOrm = (code: string, constraint?: string): Error =>
  new QueryFailedError('select', [], fromPg(code, constraint));

describe('work that met another transaction', () => {
  /** Work that fails so many times. */
  const failing = (times: number, error: unknown) => {
    const work = (): Promise<string> => {
      work.runs++;
      return work.runs > times ? Promise.resolve('done') : Promise.reject(error as Error);
    };
    work.runs = 0;
    return work;
  };

  it.each([
    ['a deadlock', fromPg('40P01')],
    ['a serialization failure', throughTypeOrm('40001')],
    ['a foreign key violation', throughTypeOrm('23503')],
    ['a primary that became a standby', fromPg('25006')],
    ['a change of the data meanwhile', new Retry()],
  ])('runs again after %s, three times at most', async (_, error) => {
    const work = failing(3, error);
    expect(await retried(work)).toBe('done');
    expect(work.runs).toBe(4);
    const hopeless = failing(4, error);
    await expect(retried(hopeless)).rejects.toBe(error);
    expect(hopeless.runs).toBe(4);
  });

  it.each([
    ['a unique violation', fromPg('23505')],
    ['a lost connection', new Error('Connection terminated')],
    ['a programming error', new TypeError()],
    ['what is no error', '40P01'],
  ])('does not run again after %s', async (_, error) => {
    const work = failing(1, error);
    await expect(retried(work)).rejects.toBe(error);
    expect(work.runs).toBe(1);
  });
});

describe('an error of the database', () => {
  const system = (code: string): Error => Object.assign(new Error(), { code, syscall: 'connect' });
  it.each<[string, Error, string[]]>([
    ['a refused connection', system('ECONNREFUSED'), ['unreachable', 'fault', 'breaks']],
    ['a server that starts', fromPg('57P03'), ['unreachable', 'fault', 'breaks']],
    ['no connection left', fromPg('53300'), ['unreachable', 'fault', 'breaks']],
    [
      'a pool that gives none',
      new Error('timeout exceeded when trying to connect'),
      ['unreachable', 'fault', 'breaks'],
    ],
    ['a reset connection', system('ECONNRESET'), ['fault', 'breaks']],
    ['a closed connection, whose code looks like a SQLSTATE', system('EPIPE'), ['fault', 'breaks']],
    ['no answer', new Error('Query read timeout'), ['fault', 'breaks']],
    ['a connection that ended', new Error('Connection terminated unexpectedly'), ['fault', 'breaks']],
    ['an administrator', throughTypeOrm('57P01'), ['fault', 'breaks']],
    ['a primary that became a standby', fromPg('25006'), ['breaks']],
    ['a statement that took too long', fromPg('57014'), ['overload']],
    ['a lock that took too long', throughTypeOrm('55P03'), ['overload']],
    ['a full queue', new Overloaded(), ['overload']],
    ['a unique violation', fromPg('23505'), []],
    ['a programming error', new TypeError(), []],
  ])('is of its kinds: %s', (_, error, kinds) => {
    const all = {
      unreachable: isUnreachable,
      fault: isConnectionFault,
      breaks: breaksConnection,
      overload: isOverload,
    };
    expect(Object.entries(all).flatMap(([kind, is]) => (is(error) ? [kind] : []))).toEqual(kinds);
  });
});
