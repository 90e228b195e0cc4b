import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

type Row = unknown[];

/** Zero-based row and column of a cell such as `C5`. */
function cellOf(name: string): [row: number, column: number] {
  const [, letters = '', digits = ''] = /^([A-Z]+)(\d+)$/.exec(name) ?? [];
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
  return [Number(digits) - 1, column - 1];
}

/** A stand-in for the values of one spreadsheet in Google's API, version 4, in the parts that n8n's node uses. */
export class Sheet {
  readonly rows: Row[] = [];
  readonly server: Server;

  constructor(private readonly title: string) {
    this.server = createServer((request, response) => void this.respond(request, response));
  }

  /** The values of a column, without its name. */
  column(name: string): unknown[] {
    const index = this.rows[0]?.indexOf(name) ?? -1;
    return this.rows.slice(1).map((row) => row[index]);
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', 'http://sheets');
    const [, range = ''] = /^\/v4\/spreadsheets\/[^/:]+\/values\/(.+)$/.exec(decodeURIComponent(pathname)) ?? [];
    const body =
      request.method === 'GET'
        ? {}
        : ((await json(request)) as { values: Row[]; data?: { range: string; values: Row[] }[] });
    const result = this.handle(request.method ?? '', pathname, range.split('!')[1] ?? '', body as { values: Row[] });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
  }

  /** @param rows The range without the sheet's title, such as `1:1`; empty for all of the sheet. */
  private handle(
    method: string,
    path: string,
    rows: string,
    body: { values?: Row[]; data?: { range: string; values: Row[] }[] },
  ): object {
    if (path.endsWith('/values:batchUpdate')) {
      for (const { range, values } of body.data ?? []) {
        const [row, column] = cellOf(range.split('!')[1] ?? '');
        this.rows[row]![column] = values[0]![0];
      }
      return {};
    }
    const [first = 1, last = Infinity] = rows ? rows.replace(/[A-Z]/g, '').split(':').filter(Boolean).map(Number) : [];
    if (method === 'PUT') {
      for (const [n, values] of (body.values ?? []).entries()) this.rows[first - 1 + n] = values;
      return {};
    }
    if (method === 'GET' && path.includes('/values/')) return { values: this.rows.slice(first - 1, last) };
    if (method === 'GET') {
      const gridProperties = { rowCount: 1000, columnCount: 26 };
      return { sheets: [{ properties: { sheetId: 0, title: this.title, gridProperties } }] };
    }
    return {};
  }
}
