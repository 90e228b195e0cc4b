import request, { Response, Test } from 'supertest';
import { expectToMatchDescription } from './description';

type Query = Record<string, string | number | (string | number)[]>;

/**
 * A client of the API as one organization's software would be. Every answer is compared with openapi.json: no test
 * needs to repeat the keys and types of a resource.
 */
export class ApiClient {
  constructor(
    readonly baseUrl: string,
    readonly key?: string,
  ) {}

  get = (path: string, query: Query = {}): Test => this.send('get', path).query(query);
  post = (path: string, body?: object): Test => this.send('post', path, body);
  put = (path: string, body?: object): Test => this.send('put', path, body);
  patch = (path: string, body?: object): Test => this.send('patch', path, body);
  delete = (path: string): Test => this.send('delete', path);

  send(method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string, body?: object): Test {
    const sent = request(this.baseUrl)[method](path);
    if (this.key !== undefined) void sent.set('x-api-key', this.key);
    if (body !== undefined) void sent.send(body);
    return sent.expect((response: Response) => expectToMatchDescription(method, path, response));
  }

  /** Every item of a list, page by page. */
  async all<Item>(path: string, key: string, query: Query = {}): Promise<Item[]> {
    const items: Item[] = [];
    for (let offset = 0; ; offset++) {
      const { body } = await this.get(path, { limit: 50, ...query, offset }).expect(200);
      const page = body.results[key] as Item[];
      items.push(...page);
      if (page.length < body.pagination.limit) return items;
    }
  }
}
