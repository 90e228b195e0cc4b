import { SetMetadata } from '@nestjs/common';
import { type HandlerContext, oncePerHandler } from './handler-metadata';

const SHOWN_ONCE_METADATA = 'lanyard:shown once';

/**
 * A field of `results` that only the first response shows, because it is a secret. The response that is stored for an
 * Idempotency-Key, and so its replay, has null in its place.
 */
export const ShownOnce = (field: string): MethodDecorator => SetMetadata(SHOWN_ONCE_METADATA, field);

const fieldShownOnce = oncePerHandler((context) => ({
  name: Reflect.getMetadata(SHOWN_ONCE_METADATA, context.getHandler()) as string | undefined,
}));

/** The body of a response as it is stored for its Idempotency-Key. */
export function bodyToStore(context: HandlerContext, body: string): string {
  const { name } = fieldShownOnce(context);
  if (name === undefined) return body;
  const { results, ...envelope } = JSON.parse(body) as { results: object };
  return JSON.stringify({ ...envelope, results: { ...results, [name]: null } });
}
