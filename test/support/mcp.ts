import { Client, type ElicitResult, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createServer } from '../../clients/mcp/src/server';
import { createSession, type SessionOptions } from '../../clients/mcp/src/session';

/** What a tool said. */
export interface ToolResult {
  text: string;
  isError: boolean;
  /** The records between the marks. */
  records: Record<string, unknown>[];
  /** The cursor that the answer names for the next call. */
  cursor: string | undefined;
}

/** An agent: the client of the official SDK, connected to the tools. */
export interface Agent {
  client: Client;
  call(tool: string, input?: Record<string, unknown>): Promise<ToolResult>;
  toolNames(): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * @param revision of MCP; 2025 is served without a session, too
 * @param askUser what the user says to a question of a tool; without it, the client cannot ask
 */
export async function connectAgent(
  options: SessionOptions,
  revision: 'modern' | 'legacy' = 'modern',
  askUser?: (question: string) => ElicitResult,
): Promise<Agent> {
  const session = createSession(options);
  const handler = createMcpHandler(() => createServer(session), { legacy: 'stateless' });
  session.scope.onChange = () => handler.notify.toolsChanged();
  const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
    fetch: (url, init) => handler.fetch(new Request(url, init)),
  });
  const mode = revision === 'modern' ? { pin: '2026-07-28' } : revision;
  const capabilities = askUser ? { elicitation: { form: {} } } : {};
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode }, capabilities });
  if (askUser) client.setRequestHandler('elicitation/create', ({ params }) => askUser(params.message));
  await client.connect(transport);
  return agentOf(client, () => handler.close());
}

export function agentOf(client: Client, stop: () => Promise<void> = () => Promise.resolve()): Agent {
  return {
    client,
    async call(tool, input = {}) {
      const { content, isError = false } = await client.callTool({ name: tool, arguments: input });
      const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
      return { text, isError, records: recordsIn(text), cursor: /cursor "(.*?)"/.exec(text)?.[1] };
    },
    async toolNames() {
      return (await client.listTools()).tools.map(({ name }) => name);
    },
    async close() {
      await client.close();
      await stop();
    },
  };
}

/** The records between the marks of an answer. */
function recordsIn(text: string): Record<string, unknown>[] {
  const lines = /^<(data-[0-9a-f]{12})>\n(.*)\n<\/\1>$/ms.exec(text)?.[2];
  return lines === undefined ? [] : lines.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
}
