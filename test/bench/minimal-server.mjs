// The least that can answer the measured routes from Lanyard's tables: no framework, no validation, the keys in memory.
// Each request is one call of Redis and one prepared statement, whose JSON goes out as PostgreSQL rendered it.
// Settings: PORT, and those of minimal-statements.mjs.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { answers, organizations, takeToken } from './minimal-statements.mjs';

const { PORT } = process.env;

/** The body of the answer, undefined when there is nothing like it. */
async function answer(request, organization) {
  const { pathname, searchParams: query } = new URL(request.url, 'http://localhost');
  const [, , , resource, id] = pathname.split('/');
  const body = request.method === 'GET' ? undefined : await json(request);
  switch (`${request.method} ${resource}${id ? ' one' : ''}`) {
    case 'GET leads':
      return answers.leads(organization, query);
    case 'GET leads one':
      return answers.lead(organization, id);
    case 'GET leadActivityEvents':
      return answers.activity(organization, query);
    case 'GET industryEvents':
      return answers.search(query);
    case 'POST leads':
      return answers.create(organization, body);
    case 'PATCH leads one':
      return answers.patch(organization, id, body);
    case 'PUT events one':
      return answers.associate(organization, id, body);
  }
}

async function handle(request, send) {
  const key = request.headers['x-api-key'];
  const organization = organizations.get(key);
  if (organization === undefined) return send(401, '{"status":401,"error":"Unauthorized"}');
  const { admitted, headers: limits } = await takeToken(key);
  if (!admitted) return send(429, '{"status":429,"error":"Too Many Requests"}', { ...limits, 'Retry-After': 1 });
  const body = await answer(request, organization);
  return body ? send(200, body, limits) : send(404, '{"status":404,"error":"Not Found"}', limits);
}

const server = createServer((request, response) => {
  const send = (status, body, headers) => {
    const type = { 'Content-Type': 'application/json; charset=utf-8' };
    response.writeHead(status, { ...type, 'Content-Length': Buffer.byteLength(body), ...headers }).end(body);
  };
  handle(request, send).catch((error) => {
    if (error.code === 'ECONNRESET') return; // the client left
    console.error(error);
    send(500, '{"status":500,"error":"Internal Server Error"}');
  });
});
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}/api/v0`),
);
process.once('SIGTERM', () => process.exit(0));
