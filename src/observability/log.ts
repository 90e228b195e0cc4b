import { fstatSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Level, type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino';
import { SonicBoom } from 'sonic-boom';
import type { LogLevel } from '../config';

export type Log = Logger;

/**
 * How many characters are buffered before they are written. With one write per 30 requests, each of them costs next to
 * nothing.
 */
const BUFFER_CHARACTERS = 1 << 13;
/** How long entries stay in the buffer at most. What is left when the process ends is written then. */
const FLUSH_INTERVAL_MS = 500;
/** How long that final write may take. */
const FINAL_FLUSH_TIMEOUT_MS = 1000;
/**
 * Maximum number of bytes that wait to be written. Further lines are dropped if a disk is full or a reader stalls or is
 * gone, because logging must not stop the service.
 */
const MAX_UNWRITTEN_BYTES = 1 << 20;

/** The field that holds the text of an entry, whoever writes it: modules pass Nest's Logger an object with this field. */
const MESSAGE_KEY = 'message';

/** Creates the log: one line of JSON per entry on standard output or, on a terminal, a line for people. */
export function createLog(level: LogLevel, destination: DestinationStream = sharedOutput()): Log {
  const options: LoggerOptions = {
    level,
    messageKey: MESSAGE_KEY,
    base: { pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  return pino(options, destination);
}

/** The stream of the log. It is created once, because a process may run more than one server. */
let output: DestinationStream | undefined;
let buffer: SonicBoom | undefined;
let standardStream: NodeJS.WriteStream & { fd: number } = process.stdout;

/** Sends everything to standard error, because standard output is reserved for a result. Call it before anything is logged. */
export function logToStandardError(): void {
  standardStream = process.stderr;
}

const sharedOutput = (): DestinationStream => (output ??= createOutput());

function createOutput(): DestinationStream {
  // Without a listener a failed write would end the process.
  standardStream.on('error', () => undefined);
  if (standardStream.isTTY) {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- loaded only for people, because JSON does not need it
    const pretty = require('pino-pretty') as typeof import('pino-pretty');
    return pretty({
      sync: true,
      destination: standardStream.fd,
      singleLine: true,
      messageKey: MESSAGE_KEY,
      translateTime: 'SYS:HH:MM:ss.l',
      messageFormat: (entry, name) => (entry.route ? requestLine(entry) : String(entry[name] ?? '')),
      ignore: 'pid,method,route,status,durationMs',
    });
  }
  // pino's own destination ends the process at the first error, and otherwise delays its end until everything is written.
  buffer = new SonicBoom({
    fd: standardStream.fd,
    sync: false,
    minLength: BUFFER_CHARACTERS,
    maxLength: MAX_UNWRITTEN_BYTES,
  });
  buffer.on('error', () => undefined);
  setInterval(() => buffer?.flush(), FLUSH_INTERVAL_MS).unref();
  return buffer;
}

/** Prints a line for the person who started the server, among those of the log. */
export function announce(line: string): void {
  sharedOutput();
  if (buffer === undefined) standardStream.write(`${line}\n`);
  else {
    buffer.write(`${line}\n`);
    buffer.flush();
  }
}

/** Whether the output is kept in a file, where a key must not stand. */
export const isLogFile = (): boolean => fstatSync(standardStream.fd).isFile();

/** Writes what is buffered, within a second. Await it before the process ends. */
export async function flushLog(): Promise<void> {
  const stream = buffer;
  if (stream === undefined) return;
  const written = new Promise((resolve) => stream.flush(resolve));
  await Promise.race([written, pause(FINAL_FLUSH_TIMEOUT_MS)]);
}

const requestLine = ({ method, route, status, durationMs }: Record<string, unknown>): string =>
  `${String(method)} ${String(route)} ${String(status)} in ${Number(durationMs).toFixed(1)} ms`;

/** The parts of Nest that log a line for every module and route at each start. */
const NEST_PARTS = [
  'NestFactory',
  'NestApplication',
  'NestApplicationContext',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
];

/**
 * The target of Nest's Logger. Modules pass a text, an object of fields or an error, and the name of the part that logs it.
 */
export class NestLog implements LoggerService {
  constructor(private readonly destination: Log) {}

  log = (message: unknown, ...context: unknown[]): void => {
    const isNest = NEST_PARTS.includes(String(context.at(-1)));
    this.writer(isNest ? 'debug' : 'info')(message, ...context);
  };
  fatal = this.writer('fatal');
  error = this.writer('error');
  warn = this.writer('warn');
  debug = this.writer('debug');
  verbose = this.writer('trace');

  /** @returns a function that gets further messages or the stack of an error, and last the name of the part */
  private writer(level: Level) {
    return (message: unknown, ...context: unknown[]): void => {
      const part = typeof context.at(-1) === 'string' ? context.pop() : undefined;
      const stack = level === 'error' || level === 'fatal' ? context.shift() : undefined;
      const details = context.length > 0 ? context : undefined;
      const log = (fields: object, text?: string): void => this.destination[level](fields, text);
      if (message instanceof Error) log({ part, stack: stack ?? message.stack, details }, message.message);
      else if (typeof message === 'object') log({ part, ...message, stack, details });
      else log({ part, stack, details }, String(message));
    };
  }
}
