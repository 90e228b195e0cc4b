import type { HttpException } from '@nestjs/common';
import { errorText } from '../../errors/error-response';

/**
 * The text that the author of a module gave an exception of Nest: a message, or the messages of a ValidationPipe.
 * @returns undefined where there is none, or only the name of the status
 */
export function exceptionText(error: HttpException): string | undefined {
  const body: unknown = error.getResponse();
  // Nest does not send the message of an error that an exception was made of, which may tell of internals.
  if (body instanceof Error) return undefined;
  const message: unknown = typeof body === 'string' ? body : (body as { message?: unknown }).message;
  const text = Array.isArray(message) ? message.join(', ') : message;
  return typeof text === 'string' && text !== '' && text !== errorText(error.getStatus()) ? text : undefined;
}
