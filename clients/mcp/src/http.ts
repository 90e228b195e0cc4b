import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createServer } from './server';
import type { Session } from './session';

export const MCP_PATH = '/mcp';

/**
 * Serves MCP over HTTP on 127.0.0.1. Requests of web pages, and those for another host name, are rejected: a page could
 * otherwise use the key of whoever opens it.
 * @param port 0 for one that is free
 * @returns the server, and the URL for clients
 */
export async function serveHttp(session: Session, port: number): Promise<{ server: Server; url: string }> {
  const isLocalHost = localhostHostValidation();
  const isLocalOrigin = localhostOriginValidation();
  const handler = createMcpHandler(() => createServer(session), { legacy: 'stateless' });
  session.scope.onChange = () => handler.notify.toolsChanged();
  const handle = toNodeHandler(handler);
  const server = createHttpServer((request, response) => {
    if (!isLocalHost(request, response) || !isLocalOrigin(request, response)) return;
    if (request.url?.split('?')[0] === MCP_PATH) void handle(request, response);
    else response.writeHead(404).end();
  });
  server.on('close', () => void handler.close());
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${MCP_PATH}` };
}
