import { setTimeout as pause } from 'node:timers/promises';
import { eventInput, leadInput } from '../../support/builders';
import { ask, Tally } from '../support/ask';
import type { Api } from '../support/api';
import type { Random } from '../support/random';
import type { Tenant } from '../faults/cluster';

const THINK_MS = 30;

/** A client of each organization, which writes without end. */
export class Writers {
  readonly answers = new Tally();
  private readonly running: Promise<void>[];
  private isStopping = false;

  constructor(
    private readonly apis: Api[],
    tenants: Tenant[],
    private readonly random: Random,
  ) {
    this.running = tenants.map((tenant) => this.write(tenant));
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.running);
  }

  private async write({ key }: Tenant): Promise<void> {
    const leads: string[] = [];
    let event: number | undefined;
    const send = async (method: string, path: string, body?: object): Promise<{ id: string } | undefined> => {
      const answer = await ask(this.random.pick(this.apis).port, { method, path: `/api/v0${path}`, key, body });
      this.answers.add(answer);
      return answer.status === 200 ? (answer.body?.results as { id: string }) : undefined;
    };
    const acts = {
      create: async () => {
        const made = await send('POST', '/leads', leadInput({ firstName: this.random.text(8) }));
        if (made) leads.push(made.id);
      },
      patch: () => send('PATCH', `/leads/${this.random.pick(leads)}`, { jobTitle: this.random.text(8) }),
      put: () =>
        send('PUT', `/events/${event}/leads`, {
          eventLeads: this.random
            .some(leads, 3)
            .map((leadId) => ({ leadId, registered: true, checkedIn: this.random.chance(0.5) })),
        }),
      delete: () => send('DELETE', `/leads/${leads.splice(this.random.below(leads.length), 1)[0]}`),
    };
    while (!this.isStopping) {
      event ??= (await send('POST', '/events', EVENT))?.id as number | undefined;
      const act = leads.length < 5 || !event ? 'create' : this.random.weighted(WEIGHTS);
      await acts[act]();
      await pause(THINK_MS);
    }
  }
}

const WEIGHTS = [
  [4, 'create'],
  [4, 'patch'],
  [2, 'put'],
  [1, 'delete'],
] as const;

const EVENT = eventInput();
