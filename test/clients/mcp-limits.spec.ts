import { randomUUID } from 'node:crypto';
import type { ElicitResult } from '@modelcontextprotocol/client';
import type { SessionOptions } from '../../clients/mcp/src/session';
import { leadInput } from '../support/builders';
import { Lanyard, startLanyard, Tenant } from '../support/lanyard';
import { Agent, connectAgent } from '../support/mcp';

/** So many leads may be deleted in a session before its user is asked. */
const MAX_DELETES = 20;

describe('an MCP server keeps limits', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  const agents: Agent[] = [];
  beforeAll(async () => void (lanyard = await startLanyard()));
  beforeEach(async () => void (tenant = await lanyard.tenant()));
  afterEach(async () => void (await Promise.all(agents.splice(0).map((agent) => agent.close()))));

  async function connect(options: Partial<SessionOptions> = {}, askUser?: (question: string) => ElicitResult) {
    const agent = await connectAgent({ url: lanyard.baseUrl, key: tenant.key, ...options }, 'modern', askUser);
    agents.push(agent);
    return agent;
  }

  describe('of deletes', () => {
    let leadIds: string[];
    beforeEach(async () => {
      leadIds = Array.from({ length: MAX_DELETES + 3 }, () => randomUUID());
      await tenant.import({ leads: leadIds.map((id) => ({ id, firstName: 'Ada', lastName: 'Rowe' })) });
    });

    const remaining = async (): Promise<number> =>
      ((await tenant.api.get('/leads').expect(200)).body as { results: { total: number } }).results.total;

    const deleteLead = (agent: Agent, leadId: string | undefined, dryRun = false) =>
      agent.call('delete_lead', { leadId, person: 'Ada Rowe', dryRun });

    async function deleteAllowed(agent: Agent): Promise<string[]> {
      for (const leadId of leadIds.slice(0, MAX_DELETES)) {
        expect(await deleteLead(agent, leadId)).toMatchObject({ isError: false });
      }
      expect(await remaining()).toBe(3);
      return leadIds.slice(MAX_DELETES);
    }

    it('ends them where the client cannot ask its user', async () => {
      const agent = await connect({ allowDeletes: true });
      const [next] = await deleteAllowed(agent);
      const text = `Nothing was deleted. ${MAX_DELETES} leads have been deleted, and no more can be, because this client cannot ask its user.`;
      expect(await deleteLead(agent, next)).toEqual(expect.objectContaining({ isError: true, text }));
      expect((await deleteLead(agent, next, true)).text).toMatch(/^Dry run, nothing is stored\./);
      expect(await remaining()).toBe(3);
    });

    it('asks the user before each further one', async () => {
      const questions: string[] = [];
      const answers: ElicitResult[] = [
        { action: 'accept', content: { confirm: true } },
        { action: 'accept', content: { confirm: false } },
        { action: 'decline' },
      ];
      const agent = await connect({ allowDeletes: true }, (question) => {
        questions.push(question);
        return answers[questions.length - 1] ?? { action: 'cancel' };
      });
      const [agreed, refused, declined] = await deleteAllowed(agent);
      expect(questions).toEqual([]);
      expect(await deleteLead(agent, agreed)).toMatchObject({ isError: false });
      expect(await deleteLead(agent, refused)).toMatchObject({ isError: true, text: NOT_AGREED });
      expect(await deleteLead(agent, declined)).toMatchObject({ isError: true, text: NOT_AGREED });
      expect(await remaining()).toBe(2);
      expect(questions).toEqual(
        [20, 21, 21].map((count) => expect.stringContaining(`${count} leads have been deleted`) as string),
      );
    });

    it('counts neither what failed nor a dry run', async () => {
      const agent = await connect({ allowDeletes: true });
      for (let n = 0; n <= MAX_DELETES; n++) {
        expect(await deleteLead(agent, randomUUID())).toMatchObject({ isError: true });
        expect(await deleteLead(agent, leadIds[0], true)).toMatchObject({ isError: false });
      }
      await deleteAllowed(agent);
    });
  });

  it('of the time for which a call waits for tokens', async () => {
    const controller = new AbortController();
    let [now, deadline] = [0, Infinity];
    const empty: typeof fetch = (url, init) => {
      if (!String(url).includes('/leads')) return fetch(url, init);
      const headers = { 'retry-after': '7' };
      return Promise.resolve(Response.json({ status: 429, error: 'Too Many Requests' }, { status: 429, headers }));
    };
    const agent = await connect({
      fetch: empty,
      timeoutAfter: (milliseconds) => {
        deadline = now + milliseconds;
        return controller.signal;
      },
      sleep: (milliseconds, signal) => {
        now += milliseconds;
        if (now >= deadline) controller.abort();
        return signal?.aborted ? Promise.reject(signal.reason as Error) : Promise.resolve();
      },
    });
    const unread = await agent.call('find_leads');
    expect(unread).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^Not finished after 50 s: .* too few tokens/) as string,
    });
    expect(deadline).toBe(50_000);
    const unwritten = await agent.call('create_lead', leadInput());
    expect(unwritten.text).toContain('The write may have been carried out. Look before you repeat it.');
  });

  it.each(['all', 'read'] as const)('and names the organization and those of a key of scope %s', async (scope) => {
    const { key } = await tenant.issueKey({ scope, maxTokens: 40, refillRate: 2.5 });
    const { client } = await connect({ key });
    expect(client.getInstructions()).toContain(
      `The key of the organization "Test organization" is of scope ${scope} and allows 40 requests at once, then 2.5 a second.`,
    );
  });
});

const NOT_AGREED = 'Nothing was deleted: the user did not agree.';
