import { once } from 'node:events';
import { connect } from 'node:net';
import { InProcess, startInProcess, Tenant } from './support/lanyard';

describe('a client that takes too long', () => {
  let lanyard: InProcess;
  let tenant: Tenant;
  beforeAll(async () => {
    lanyard = await startInProcess({ headersTimeoutMs: 100, requestTimeoutMs: 150 });
    tenant = await lanyard.tenant();
  });
  afterAll(() => lanyard.stop());

  /** All that comes back until the server closes the connection. */
  async function answerTo(bytes: string): Promise<string> {
    const { hostname, port } = new URL(lanyard.baseUrl);
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let answer = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text;
    });
    await once(socket, 'close');
    return answer;
  }

  const POST = 'POST /api/v0/leads HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n';
  it.each([
    ['no byte of a head that has begun', () => 'GET /api/v0/leads HTTP/1.1\r\nHost: x\r\nx-api'],
    ['no body', () => `${POST}x-api-key: ${tenant.key}\r\n\r\n`],
    ['half a body', () => `${POST}x-api-key: ${tenant.key}\r\n\r\n{"firstName":"Ada"`],
  ])('is told so once, and the connection is closed: %s', async (_, bytes) => {
    const answer = await answerTo(bytes());
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 408']);
    expect(answer).toContain('application/json; charset=utf-8');
    expect(answer).toMatch(/\r\n\r\n\{"status":408,"error":"Request Timeout"\}$/);
  });

  it('is told once of what was refused before its body came', async () => {
    const answer = await answerTo(`${POST}\r\n`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
  });
});
