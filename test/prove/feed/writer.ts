import { eventInput, createExhibitor, leadInput } from '../../support/builders';
import { type Answer, type Ask, ask, type Tally } from '../support/ask';
import type { Random } from '../support/random';

const MATCHED = 300;
const MAX_BATCH = 200;
const TITLES = ['Buyer', 'Head of Buying', 'Engineer', null];
const INTEGRATIONS = ['WEBHOOK', 'HUB_SPOT', 'ZOHO'];

/** Changes an organization's records in every way there is. */
export class Writer {
  /** ids that were there at some time */
  private readonly leads: string[];
  private readonly events: number[] = [];
  private readonly made = createExhibitor();
  private readonly options: { id: string; value: string; displayOrder: number }[];
  private readonly activations: string[];

  /**
   * @param port where the next request goes
   * @param imported leads of an import
   */
  constructor(
    private readonly key: string,
    private readonly port: () => number,
    private readonly random: Random,
    private readonly answers: Tally,
    private readonly imported: number,
  ) {
    this.leads = Array.from({ length: imported }, () => random.uuid());
    this.options = [0, 1, 2, 3].map((n) => ({ id: random.uuid(), value: `Option ${n}`, displayOrder: n }));
    this.activations = [0, 1, 2].map(() => random.uuid());
  }

  /** One write, which may be refused: of what another one has deleted, or holds. */
  async write(): Promise<void> {
    const { random } = this;
    const act = random.weighted<() => Promise<unknown>>([
      [8, () => this.createLead()],
      [20, () => this.send('PATCH', `/leads/${this.lead()}`, this.patch())],
      [16, () => this.batch()],
      [8, () => this.send('DELETE', `/leads/${this.lead()}`)],
      [5, () => this.createEvent()],
      [4, () => this.send('PUT', `/events/${this.event()}`, eventInput({ eventName: random.text(1) }))],
      [12, () => this.send('PUT', `/events/${this.event()}/leads`, { eventLeads: this.entries() })],
      [4, () => this.send('DELETE', `/events/${this.event()}/leads/${this.lead()}`)],
      [2, () => this.send('DELETE', `/events/${this.event()}`)],
    ]);
    await act();
  }

  /** A dataset to import: records of all kinds, some of them new, others changed, and the same tags under other names. */
  dataset(): object {
    const { random, made } = this;
    const refs = ['spring', 'summer', 'autumn'];
    for (const option of this.options) option.value = `Option ${random.text(2)}`;
    const ids = random.some(this.leads.slice(0, this.imported));
    const leads = ids.map((id) => ({
      ...made.lead,
      id,
      firstName: random.text(2),
      jobTitle: random.pick(TITLES),
      email: `${id}@example.com`,
      tags: random.some(this.options, 2).map((option) => ({ tagOptionId: option.id })),
      events: random.some(refs, 2).map((event) => ({ event, registered: true, checkedIn: random.chance(0.5) })),
      activations: random.some(this.activations, 1).map((id) => ({
        activationId: id,
        registered: random.chance(0.5),
        checkedIn: true,
      })),
      remoteIds: [{ id: `imported-${id}`, integrationType: 'PARDOT' }],
    }));
    const notes = random.some(ids, this.imported / 2).map((id) => ({
      ...made.activity(),
      associatedLead: id,
      eventNotes: random.text(3),
      associatedEvent: random.pick(refs),
      associatedActivation: random.pick(this.activations),
      associatedTagOption: random.pick(this.options).id,
    }));
    return {
      users: made.users,
      tagGroups: [{ ...made.tagGroup, tagOptions: this.options }],
      events: refs.map((ref) => ({ ...made.event, ref, name: random.text(2) })),
      activations: this.activations.map((id, n) => ({ ...made.activation, id, event: refs[n], name: random.text(2) })),
      leads,
      leadActivityEvents: notes,
    };
  }

  /** Old ones are gone for the most part. */
  private lead = (): string => this.random.pick(this.leads.slice(-(this.imported + MATCHED)));
  private event = (): number => this.random.pick(this.events.slice(-20)) ?? 1;

  private async send(method: Ask['method'], path: string, body?: object): Promise<Answer> {
    const answer = await ask(this.port(), { method, path: `/api/v0${path}`, key: this.key, body });
    this.answers.add(answer);
    return answer;
  }

  private async createLead(): Promise<void> {
    const { body } = await this.send('POST', '/leads', leadInput({ firstName: this.random.text(2) }));
    this.know(this.leads, body?.results);
  }

  private async createEvent(): Promise<void> {
    const { body } = await this.send('POST', '/events', eventInput());
    this.know(this.events, body?.results);
  }

  private know(ids: unknown[], made: unknown): void {
    const id = (made as { id?: unknown } | undefined)?.id;
    if (id !== undefined) ids.push(id);
  }

  /** Often what is there already. */
  private patch(): object {
    const { random } = this;
    const id = random.chance(0.2) ? null : `crm-${random.below(5)}`;
    return random.weighted<object>([
      [5, { jobTitle: random.pick(TITLES) }],
      [3, { remoteId: { id, integrationType: random.pick(INTEGRATIONS) } }],
      [1, { profilePicture: `https://example.com/${random.text(2)}.png` }],
      [1, { phoneNumbers: [{ number: random.text(3), type: 'MOBILE', preferred: true }] }],
    ]);
  }

  private async batch(): Promise<void> {
    const { random } = this;
    const size = random.between(1, Math.min(MAX_BATCH, this.imported));
    const numbers = new Set(Array.from({ length: size }, () => random.below(MATCHED)));
    const leads = [...numbers].map((n) => ({
      ...leadInput({ firstName: random.text(1) }),
      remoteId: { id: `matched-${n}`, integrationType: 'ELOQUA' },
    }));
    const { body } = await this.send('POST', '/leads/batch', { matchBy: 'remoteId', leads });
    const results = body?.results as { leads?: { lead?: unknown }[] } | undefined;
    for (const { lead } of results?.leads ?? []) if (random.chance(0.1)) this.know(this.leads, lead);
  }

  private entries(): object[] {
    const { random } = this;
    const leads = random.some(this.leads.slice(-200), random.between(1, 20));
    return leads.map((leadId) => ({ leadId, registered: random.chance(0.5), checkedIn: random.chance(0.5) }));
  }
}
