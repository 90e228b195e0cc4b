#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { version } from '../package.json';
import { LanyardError } from '../../typescript/src';
import { serveHttp } from './http';
import { createServer } from './server';
import { createSession, type Session } from './session';

const HELP = `Usage: LANYARD_URL=… LANYARD_KEY=lan_… lanyard-mcp [options]

An MCP server for Lanyard. It speaks MCP on standard input and output, or over HTTP.

Options:
  --http PORT       listen on 127.0.0.1:PORT, path /mcp, instead
  --allow-deletes   list tools that delete
  --version         print the version
  --help            print this text

Environment:
  LANYARD_URL   URL of the API: http://localhost:3000/api/v0
  LANYARD_KEY   API key. Tools that its scope does not allow are not listed.
`;

interface Arguments {
  port?: number;
  allowDeletes: boolean;
  help: boolean;
  version: boolean;
}

/** Wrong arguments or environment variables. */
class UsageError extends Error {}

function readArguments(): Arguments {
  const options = {
    http: { type: 'string' },
    'allow-deletes': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    version: { type: 'boolean', default: false },
  } as const;
  try {
    const { values } = parseArgs({ options });
    const { http, help, version: isVersionAsked } = values;
    const result: Arguments = { allowDeletes: values['allow-deletes'], help, version: isVersionAsked };
    if (http !== undefined) result.port = portOf(http);
    return result;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`"${text}" is not a valid port for --http. Use a number from 0 to 65535.`);
}

/** @throws UsageError that says which variable is missing or wrong */
function openSession(allowDeletes: boolean): Session {
  const { LANYARD_URL: url, LANYARD_KEY: key } = process.env;
  if (!url) throw new UsageError('LANYARD_URL is not set. Set it to the URL of the API: http://localhost:3000/api/v0');
  if (!key) throw new UsageError('LANYARD_KEY is not set. The operator of the server issues keys: lanyard keys issue');
  try {
    return createSession({ url, key, allowDeletes });
  } catch (error) {
    if (error instanceof LanyardError) throw new UsageError(`LANYARD_URL or LANYARD_KEY is wrong. ${error.message}`);
    throw error;
  }
}

async function main(): Promise<void> {
  const { port, allowDeletes, help, version: isVersionAsked } = readArguments();
  if (help || isVersionAsked) {
    process.stdout.write(help ? HELP : `${version}\n`);
    return;
  }
  const session = openSession(allowDeletes);
  if (port === undefined) {
    // Standard output belongs to the protocol. The program ends when the client closes standard input.
    serveStdio(async () => {
      const server = await createServer(session);
      session.scope.onChange = () => server.sendToolListChanged();
      return server;
    });
    return;
  }
  const { server, url } = await serveHttp(session, port);
  process.stderr.write(`Listening on ${url}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      server.close();
      server.closeAllConnections();
    });
  }
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
});
