import { QueryFailedError } from 'typeorm';
import { isBadInput, retried, sqlState, TryAgain, violates } from '../../src/database/errors';

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
    ['a row that is gone', throughTypeOrm('23503')],
    ['a primary that became a standby', fromPg('25006')],
    ['a change under its hands', new TryAgain()],
  ])('is run again after %s, three times at most', async (_, error) => {
    const work = failing(3, error);
    expect(await retried(work)).toBe('done');
    expect(work.runs).toBe(4);
    const hopeless = failing(4, error);
    await expect(retried(hopeless)).rejects.toBe(error);
    expect(hopeless.runs).toBe(4);
  });

  it.each([
    ['a constraint', fromPg('23505')],
    ['a programming error', new TypeError()],
    ['what is no error', '40P01'],
  ])('is not run again after %s', async (_, error) => {
    const work = failing(1, error);
    await expect(retried(work)).rejects.toBe(error);
    expect(work.runs).toBe(1);
  });
});

describe('what PostgreSQL said', () => {
  it.each([
    ['40P01', fromPg('40P01')],
    ['22P05', throughTypeOrm('22P05')],
    [undefined, fromPg('ECONNRESET')],
    [undefined, fromPg('x40P01')],
    [undefined, fromPg('40p01')],
    [undefined, new Error('40P01')],
    [undefined, Object.assign(new Error(), { code: 40001 })],
    [undefined, { code: '40P01' }],
    [undefined, undefined],
  ])('is %s', (expected, error) => expect(sqlState(error)).toBe(expected));

  it.each(['22021', '22P05', '22003', '54000'])('is the fault of the request: %s', (code) =>
    expect([isBadInput(fromPg(code)), isBadInput(throughTypeOrm(code))]).toEqual([true, true]),
  );

  it.each([fromPg('23505'), fromPg('ECONNRESET'), new Error(), undefined])('is not: %p', (error) =>
    expect(isBadInput(error)).toBe(false),
  );

  it('names the constraint', () => {
    expect(violates(throughTypeOrm('23505', 'a_key'), 'a_key')).toBe(true);
    expect(violates(fromPg('23505', 'a_key'), 'a_key')).toBe(true);
    expect(violates(throughTypeOrm('23505', 'b_key'), 'a_key')).toBe(false);
    expect(violates({ constraint: 'a_key' }, 'a_key')).toBe(false);
  });
});
