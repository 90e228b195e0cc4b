import { BadRequestException, ForbiddenException, NotFoundException, UnauthorizedException } from '@nestjs/common';
import type { Fault, FaultReason } from './faults';
import { ExpectedError } from './expected-error';

/** A part of the request is missing or invalid. The text of the response is the message, by default `Bad Request`. */
export class InvalidRequest extends BadRequestException implements Fault {
  readonly detail?: string;

  constructor(
    readonly fault: string,
    readonly reason: FaultReason = 'format',
    { message, detail }: { message?: string; detail?: string } = {},
  ) {
    super(message);
    if (detail !== undefined) this.detail = detail;
  }
}

/** A field of the body is missing or invalid. The message names it by its path, such as `phoneNumbers[0].type`. */
export class InvalidField extends InvalidRequest {
  constructor(path: string, reason?: FaultReason, { fault = `body ${path}`, detail }: Partial<Fault> = {}) {
    super(fault, reason, { message: `Missing or invalid '${path}'`, detail });
  }
}

/** The request has an Idempotency-Key, but the response cannot be stored and so not be replayed. */
export class NotReplayable extends InvalidRequest {
  constructor() {
    super('header Idempotency-Key', 'unsupported', {
      message: 'The response of this route cannot be replayed: send the request without Idempotency-Key',
    });
  }
}

/** The request has no API key. */
export class MissingApiKey extends UnauthorizedException implements Fault {
  readonly fault = 'header x-api-key';
  readonly reason = 'missing';
}

/** The API key is unknown, revoked or expired. Responses do not tell which (docs/decisions/0029). */
export class RejectedApiKey extends ForbiddenException implements Fault {
  readonly fault = 'header x-api-key';
  readonly reason = 'rejected';
}

/** The API key is valid, and its scope does not allow the request. */
export class OutOfScope extends ForbiddenException implements Fault {
  readonly fault = 'header x-api-key';
  readonly reason = 'scope';
  readonly detail: string;

  /** @param scopes those that would do */
  constructor(scopes: readonly string[]) {
    super();
    this.detail = `needs ${scopes.join(' or ')}`;
  }
}

/** The API has no such path. */
export class UnknownPath extends NotFoundException implements Fault {
  readonly fault = 'path';
  readonly reason = 'not-found';
}

/** The row does not exist, or it belongs to another organization. */
export class RowNotFound extends Error {
  readonly reason = 'not-found';

  /** @param fault names the part that refers to the row. By default it is the last parameter of the path. */
  constructor(readonly fault?: string) {
    super();
  }
}

/** The value of one field cannot be stored as it is. The message names the field, like that of InvalidField. */
export class UnstorableField extends Error implements Fault {
  readonly fault: string;

  constructor(
    field: string,
    readonly reason: FaultReason = 'range',
    options?: ErrorOptions,
  ) {
    super(`Missing or invalid '${field}'`, options);
    this.fault = `body ${field}`;
  }
}

/** The first request with the Idempotency-Key is still running. */
export class IdempotencyKeyInUse extends Error {}

/** The Idempotency-Key was used for another request. */
export class IdempotencyKeyReused extends Error {}

/** The response is too large to be stored for its Idempotency-Key, or its API key has no storage left. */
export class ResponseTooLarge extends Error {}

/** The organization has as many webhooks as it may have. */
export class TooManyWebhooks extends ExpectedError {}

/** Nothing was done, because the database has too much to do or cannot be reached. */
export class Overloaded extends Error {}

/**
 * A statement was canceled after its time. Only the transaction of the request can begin anew, with the time that such work
 * may have.
 */
export class NeedsMoreTime extends Overloaded {
  constructor(cause: unknown) {
    super('The statement needs more time', { cause });
  }
}

/** The connection was lost before the transaction's commit was sent, so nothing was changed. */
export class NotCommitted extends Overloaded {
  constructor(cause: unknown) {
    super('The connection was lost before the commit', { cause });
  }
}

/** PostgreSQL has rolled back a transaction that was to be committed. The cause is the first error of its statements. */
export class TransactionRolledBack extends Error {
  constructor(cause: unknown) {
    super(
      'PostgreSQL has rolled the transaction back, because one of its statements failed and its error was caught. ' +
        'Let the error pass, or run the statement in a transaction() within this one.',
      { cause },
    );
  }
}

/** The organization is already receiving a large result, so the rest of this one is not read. */
export class LargeResult extends Overloaded {
  constructor() {
    super('Two large results of an organization at once');
  }
}

/** The data changed while the work ran. The work runs again, and is rejected when that happens again and again. */
export class ConcurrentChange extends Overloaded {}
