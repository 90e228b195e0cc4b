import { setTimeout as pause } from 'node:timers/promises';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Level, type Logger, pino, stdTimeFunctions } from 'pino';
import { SonicBoom } from 'sonic-boom';
import type { LogLevel } from '../config';

export type Log = Logger;

/** Characters that are gathered before they are written: one write for about 30 requests costs next to nothing for each. */
const GATHERED = 1 << 13;
/** Milliseconds after which what was gathered is written in any case. The rest is when the process ends. */
const FLUSH_INTERVAL = 500;
/** Milliseconds that the rest may take. */
const LAST_FLUSH = 1000;
/**
 * Bytes that wait to be written at most. When a disk is full, or a reader stands still or is gone, later lines are lost:
 * that is no reason to serve no longer.
 */
const UNWRITTEN = 1 << 20;

/** The field of the text of an entry, whoever writes it: modules give Nest's Logger an object with a field of this name. */
const MESSAGE = 'message';

/** The log: a line of JSON an entry on standard output or, on a terminal, a line for people. */
export function createLog(level: LogLevel, to: DestinationStream = (output ??= standardOutput())): Log {
  const formatters = { level: (label: string) => ({ level: label }) };
  const options = { level, messageKey: MESSAGE, base: { pid: process.pid }, timestamp: stdTimeFunctions.isoTime };
  return pino({ ...options, formatters }, to);
}

/** made once: more than one server may run in a process */
let output: DestinationStream | undefined;
let gathered: SonicBoom | undefined;

function standardOutput(): DestinationStream {
  // A write that fails would end the process.
  process.stdout.on('error', () => undefined);
  if (process.stdout.isTTY) {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- who writes JSON does not pay for it
    const pretty = require('pino-pretty') as typeof import('pino-pretty');
    return pretty({
      sync: true,
      singleLine: true,
      messageKey: MESSAGE,
      translateTime: 'SYS:HH:MM:ss.l',
      messageFormat: (entry, name) => (entry.route ? requestLine(entry) : String(entry[name] ?? '')),
      ignore: 'pid,method,route,status,durationMs',
    });
  }
  // Not pino's own, which ends the process with the first error, and does not end before everything is written.
  gathered = new SonicBoom({ fd: process.stdout.fd, sync: false, minLength: GATHERED, maxLength: UNWRITTEN });
  gathered.on('error', () => undefined);
  setInterval(() => gathered?.flush(), FLUSH_INTERVAL).unref();
  return gathered;
}

/** A line for the person who started the server, among those of the log. */
export function announce(line: string): void {
  output ??= standardOutput();
  if (gathered === undefined) process.stdout.write(`${line}\n`);
  else {
    gathered.write(`${line}\n`);
    gathered.flush();
  }
}

/** Writes what was gathered, as far as that takes no longer than a second: to be awaited before the process ends. */
export async function endLog(): Promise<void> {
  const stream = gathered;
  if (stream === undefined) return;
  const written = new Promise((resolve) => stream.flush(resolve));
  await Promise.race([written, pause(LAST_FLUSH)]);
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

/** What modules log through Nest's Logger: a text, an object of fields or an error, and the name of the part that logs it. */
export class NestLog implements LoggerService {
  constructor(private readonly to: Log) {}

  log = (message: unknown, ...more: unknown[]): void => {
    const isNest = NEST_PARTS.includes(String(more.at(-1)));
    this.write(isNest ? 'debug' : 'info', message, more);
  };
  fatal = (message: unknown, ...more: unknown[]): void => this.write('fatal', message, more);
  error = (message: unknown, ...more: unknown[]): void => this.write('error', message, more);
  warn = (message: unknown, ...more: unknown[]): void => this.write('warn', message, more);
  debug = (message: unknown, ...more: unknown[]): void => this.write('debug', message, more);
  verbose = (message: unknown, ...more: unknown[]): void => this.write('trace', message, more);

  /** @param more further messages or the stack of an error, and last the name of the part */
  private write(level: Level, message: unknown, more: unknown[]): void {
    const hasPart = typeof more.at(-1) === 'string';
    const part = hasPart ? more.at(-1) : undefined;
    const rest = hasPart ? more.slice(0, -1) : more;
    const isError = level === 'error' || level === 'fatal';
    const [stack] = isError ? rest.splice(0, 1) : [];
    const details = rest.length > 0 ? rest : undefined;
    if (message instanceof Error) {
      this.to[level]({ part, stack: stack ?? message.stack, details }, message.message);
      return;
    }
    const fields = typeof message === 'object' ? message : {};
    const text = typeof message === 'object' ? undefined : String(message);
    this.to[level]({ part, ...fields, stack, details }, text);
  }
}
