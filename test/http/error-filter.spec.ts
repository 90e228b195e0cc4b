import { HttpException, Logger, NotFoundException, ServiceUnavailableException } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { ConnectionFailed } from '../../src/data/database/connection-pool';
import { ErrorFilter } from '../../src/http/pipeline/error.filter';
import {
  IdempotencyKeyInUse,
  IdempotencyKeyReused,
  InvalidField,
  InvalidRequest,
  NotCommitted,
  NotReplayable,
  Overloaded,
  ResponseTooLarge,
  ConcurrentChange,
  RowNotFound,
} from '../../src/errors/exceptions';

/** An error of PostgreSQL. */
const postgresError = (fields: object, message = ''): DatabaseError =>
  Object.assign(new DatabaseError(message, message.length, 'error'), fields);

/** How a statement fails. */
const failed = (cause: Error) => new QueryFailedError('select $1', ['Lovelace'], cause);

describe('an error', () => {
  let logged: unknown[];
  beforeEach(() => {
    logged = [];
    jest.spyOn(Logger.prototype, 'error').mockImplementation((message: unknown) => logged.push(message));
  });
  afterEach(() => jest.restoreAllMocks());

  /** What is answered to a request that it ended. */
  function answerTo(
    error: unknown,
    headersSent = false,
    filter = new ErrorFilter(),
    method = 'POST',
    locals = {},
    request = {},
  ) {
    const headers: Record<string, unknown> = {};
    const answer: { status?: number; body?: string; destroyed?: true } = {};
    const response = {
      headersSent,
      locals,
      status: (status: number) => Object.assign(response, void (answer.status = status)),
      setHeader: (name: string, value: unknown) => Object.assign(response, void (headers[name] = value)),
      send: (body: string) => void (answer.body = body),
      destroy: () => void (answer.destroyed = true),
    };
    const http = {
      getRequest: () => ({ id: 'r-1', method, complete: true, params: {}, ...request }),
      getResponse: () => response,
    };
    void filter.catch(error, { getType: () => 'http', switchToHttp: () => http } as never);
    return { headers, ...answer };
  }

  const frames = expect.arrayContaining([expect.stringMatching(/^ +at /)]);
  const TYPE = { 'Content-Type': 'application/json; charset=utf-8' };
  const body = (status: number, error: string) => JSON.stringify({ status, error });

  const LATER = {
    headers: { ...TYPE, 'Retry-After': '1' },
    status: 503,
    body: body(503, 'Service Unavailable'),
  };

  it.each([
    ['of a status', new NotFoundException(), 404, 'Not Found'],
    ['of a module', new NotFoundException('No such hall'), 404, 'No such hall'],
    ['of a row that is not there', new RowNotFound(), 404, 'Not Found'],
    [
      'of a key of another request',
      new IdempotencyKeyReused(),
      422,
      'This Idempotency-Key was used for another request',
    ],
    ['of an answer that is too large to be stored', new ResponseTooLarge(), 413, 'Payload Too Large'],
    ['of 499', new HttpException({}, 499), 499, 'Error'],
    ['of a value that PostgreSQL refuses', failed(postgresError({ code: '22021' }, 'secret')), 400, 'Bad Request'],
  ])('%s is answered and not logged', (_, error, status, text) => {
    expect(answerTo(error)).toEqual({ headers: TYPE, status, body: body(status, text) });
    expect(logged).toEqual([]);
  });

  it.each([
    ['query limit', 'range', new InvalidRequest('query limit', 'range'), 'Bad Request'],
    [
      'body phoneNumbers[0].type',
      'format',
      new InvalidField('phoneNumbers[0].type', 'format'),
      "Missing or invalid 'phoneNumbers[0].type'",
    ],
    ['query gr%C3%B6%C3%9Fe', 'unknown', new InvalidRequest('query größe', 'unknown'), 'Bad Request'],
    ['query hall', 'format', new InvalidRequest('query hall', 'format', { message: 'No such hall' }), 'No such hall'],
    [
      'header Idempotency-Key',
      'unsupported',
      new NotReplayable(),
      'The response of this route cannot be replayed: send the request without Idempotency-Key',
    ],
  ])('of the request is named in headers: %s %s', (fault, reason, error, text) => {
    expect(answerTo(error)).toEqual({
      headers: { ...TYPE, 'Lanyard-Fault': fault, 'Lanyard-Fault-Reason': reason },
      status: 400,
      body: body(400, text),
    });
    expect(logged).toEqual([]);
  });

  it('has the reason format where its module gives none', () => {
    expect(answerTo(new InvalidField('hall')).headers).toMatchObject({ 'Lanyard-Fault-Reason': 'format' });
  });

  it('says where to look, where its exception does', () => {
    const { headers } = answerTo(new InvalidField('tags[1]', 'duplicate', { detail: 'repeats tags[0]' }));
    expect(headers).toMatchObject({ 'Lanyard-Fault-Detail': 'repeats tags[0]' });
  });

  it.each([
    ['the last parameter of the path', new RowNotFound(), 'path leadId'],
    ['what its exception names', new RowNotFound('body leadId'), 'body leadId'],
  ])('of a record that does not exist names %s', (_, error, fault) => {
    const params = { eventId: '1', leadId: '2' };
    const { headers } = answerTo(error, false, new ErrorFilter(), 'POST', {}, { params });
    expect(headers).toMatchObject({ 'Lanyard-Fault': fault, 'Lanyard-Fault-Reason': 'not-found' });
  });

  it('of a field of a body that was not read names the content type', () => {
    const request = { hasIgnoredBody: true };
    const { headers } = answerTo(new InvalidField('a', 'missing'), false, new ErrorFilter(), 'POST', {}, request);
    expect(headers).toMatchObject({
      'Lanyard-Fault': 'header Content-Type',
      'Lanyard-Fault-Reason': 'unsupported',
    });
  });

  it('of a server that is not ready tells when to come again, and is not logged', () => {
    expect(answerTo(new ServiceUnavailableException())).toEqual(LATER);
    expect(logged).toEqual([]);
  });

  it('of a key of a running request tells when to come again', () => {
    expect(answerTo(new IdempotencyKeyInUse())).toEqual({
      headers: { ...TYPE, 'Retry-After': '1' },
      status: 409,
      body: body(409, 'The first request with this Idempotency-Key is still running'),
    });
  });

  it.each([
    ['PostgreSQL is not reached', new ConnectionFailed(Object.assign(new Error(), { code: 'ECONNREFUSED' })), 'POST'],
    ['no connection comes free', new ConnectionFailed(new Error('timeout exceeded when trying to connect')), 'POST'],
    [
      'no connection opens in time',
      new ConnectionFailed(new Error('Connection terminated due to connection timeout')),
      'POST',
    ],
    ['PostgreSQL starts', new ConnectionFailed(postgresError({ code: '57P03' })), 'POST'],
    ['the disk is full', failed(postgresError({ code: '53100' })), 'POST'],
    ['it deadlocked each time', failed(postgresError({ code: '40P01' })), 'POST'],
    ['others changed the data each time', new ConcurrentChange(), 'POST'],
    ['the commit was not sent', new NotCommitted(new Error('Query read timeout')), 'POST'],
    ['a read gets no answer', failed(new Error('Query read timeout')), 'GET'],
    ['a read loses its connection', failed(new Error('Connection terminated unexpectedly')), 'GET'],
    ['a pooler ends a connection', failed(postgresError({ code: '08P01', severity: 'FATAL' })), 'GET'],
  ])('of a request that changed nothing is 503: %s', (_, error, method) => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    expect(answerTo(error, false, new ErrorFilter(), method)).toEqual(LATER);
    expect(logged).toEqual([]);
  });

  it('of a database that has too much to do is logged, but once in ten seconds', () => {
    const now = jest.spyOn(performance, 'now');
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const filter = new ErrorFilter();
    for (const [time, lines] of [
      [5000, 1],
      [14_999, 1],
      [15_000, 2],
    ] as const) {
      now.mockReturnValue(time);
      expect(answerTo(new Overloaded('full'), false, filter)).toEqual(LATER);
      expect(warn).toHaveBeenCalledTimes(lines);
    }
    expect(warn).toHaveBeenCalledWith({ requestId: 'r-1', error: 'Overloaded', message: 'full', frames });
  });

  it('of a full disk is told to metrics by its SQLSTATE, and to the log beside an overload', () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const [filter, locals] = [new ErrorFilter(), {}];
    const full = failed(postgresError({ code: '53100' }, 'could not extend file: No space left on device'));
    answerTo(new Overloaded('full'), false, filter);
    expect(answerTo(full, false, filter, 'POST', locals)).toEqual(LATER);
    expect(locals).toEqual({ outOfResources: '53100' });
    expect(warn).toHaveBeenLastCalledWith(
      expect.objectContaining({ sqlState: '53100', message: 'could not extend file: No space left on device' }),
    );
  });

  it.each(['Query read timeout', 'Connection terminated unexpectedly'])(
    'of a write that may be stored is 500: %s',
    (message) => expect(answerTo(failed(new Error(message)))).toMatchObject({ status: 500 }),
  );

  const INTERNAL = { headers: TYPE, status: 500, body: body(500, 'Internal Server Error') };

  it('that nobody expected is told to the log alone, with the place where it was thrown', () => {
    expect(answerTo(new TypeError('two\nlines at once'))).toEqual(INTERNAL);
    expect(logged).toEqual([{ requestId: 'r-1', error: 'TypeError', message: 'two\nlines at once', frames }]);
    // The message, of which the stack begins with a copy, is no place.
    const [{ frames: [first] = [] }] = logged as [{ frames?: string[] }];
    expect(first).toContain('error-filter.spec');
  });

  it('that is none, or comes after the response has begun, is logged too', () => {
    expect(answerTo('x')).toEqual(INTERNAL);
    expect(answerTo(new RowNotFound(), true)).toEqual({ headers: {}, destroyed: true });
    expect(answerTo(Object.assign(new Error('x'), { stack: undefined }))).toEqual(INTERNAL);
    expect(logged).toEqual([
      { requestId: 'r-1', error: 'string' },
      { requestId: 'r-1', error: 'Error', message: 'x' },
    ]);
  });

  it('of a statement with the wrong number of parameters is a bug, not a lost connection', () => {
    const message = 'bind message supplies 1 parameters, but prepared statement "halls" requires 0';
    const cause = failed(postgresError({ code: '08P01', severity: 'ERROR' }, message));
    expect(answerTo(cause, false, new ErrorFilter(), 'GET')).toEqual(INTERNAL);
    expect(logged).toEqual([{ requestId: 'r-1', error: 'QueryFailedError', sqlState: '08P01', message, frames }]);
  });

  it('of the database is logged without what the rows held', () => {
    const names = { table: 'leads', routine: 'r' };
    const quoting = postgresError({ code: '22P02', ...names }, 'invalid input syntax: "Lovelace"');
    expect(answerTo(failed(quoting))).toEqual(INTERNAL);
    const message = 'new row for relation "leads" violates check constraint "c"';
    const broken = { code: '23514', detail: 'Failing row contains (Lovelace)', constraint: 'c', ...names };
    expect(answerTo(failed(postgresError(broken, message)))).toEqual(INTERNAL);
    expect(logged).toEqual([
      { requestId: 'r-1', error: 'QueryFailedError', sqlState: '22P02', ...names, frames },
      { requestId: 'r-1', error: 'QueryFailedError', sqlState: '23514', message, constraint: 'c', ...names, frames },
    ]);
    expect(JSON.stringify(logged)).not.toContain('Lovelace');
  });

  it("of another database, to which a module has a connection, is the module's own, and its message is not logged", () => {
    const quoting = postgresError({ code: '57P01', table: 'ledger' }, 'invalid input syntax: "Lovelace"');
    expect(answerTo(quoting)).toEqual(INTERNAL);
    expect(logged).toEqual([{ requestId: 'r-1', error: 'DatabaseError', table: 'ledger', frames }]);
  });

  it.each(['P0001', '22023'])('that a trigger raises is logged with its message: %s', (code) => {
    const message = 'A lead has at most three badges';
    expect(answerTo(failed(postgresError({ code, routine: 'exec_stmt_raise' }, message)))).toEqual(INTERNAL);
    expect(logged).toMatchObject([{ sqlState: code, message }]);
  });
});
