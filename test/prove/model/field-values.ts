import type { Random } from '../support/random';
import type { Fields } from './records';
import { EVENT_TYPES, INDUSTRY_EVENT_FIELDS, INTEGRATION_TYPES, PHONE_TYPES } from './rules';
import { EMAILS, FILLED, LAST_MOMENTS, MATCHED_EMAILS, MOMENTS, TEXTS, WORDS } from './values';

/** Valid values of fields. */
export class FieldValues {
  constructor(private readonly random: Random) {}

  readonly text = (): string | null => this.random.pick([...TEXTS, null]);
  readonly filled = (): string => this.random.pick(FILLED);
  readonly words = (): string => this.random.some(WORDS, this.random.between(1, 3)).join(' ');
  readonly flag = (): boolean => this.random.chance(0.5);
  readonly email = (): string => this.random.pick(EMAILS);

  /** Some of many optional fields. */
  some(fields: Record<string, () => unknown>): Fields {
    const chosen = this.random.some(Object.entries(fields), this.random.below(5));
    return Object.fromEntries(chosen.map(([name, make]) => [name, make()]));
  }

  flags(): Fields {
    return this.some({ registered: this.flag, checkedIn: this.flag });
  }

  readonly phones = (): Fields[] => {
    const { random } = this;
    return Array.from({ length: random.chance(0.05) ? random.between(49, 51) : random.below(3) }, () => ({
      number: this.filled(),
      type: random.pick(PHONE_TYPES),
      preferred: this.flag(),
    }));
  };

  event(): Fields {
    const { random } = this;
    return {
      eventName: this.filled(),
      eventType: random.pick(EVENT_TYPES),
      startDate: random.pick(['2026-05-03', '2026-05-04']),
      endDate: random.pick(['2026-05-04', '2026-05-06']),
      ...this.some({ registrationEnabled: this.flag }),
    };
  }

  patch(): Fields {
    const { random, text } = this;
    return this.some({
      firstName: text,
      lastName: text,
      address: text,
      linkedin: text,
      facebook: text,
      twitter: text,
      profilePicture: text,
      description: text,
      jobTitle: text,
      phoneNumbers: this.phones,
      email: () => random.pick([...EMAILS, ...MATCHED_EMAILS, null]),
      remoteId: () => ({ id: random.pick([...FILLED, 'w-1', null]), integrationType: random.pick(INTEGRATION_TYPES) }),
    });
  }

  industryEvent(): Fields {
    const { random } = this;
    const [, ...optional] = INDUSTRY_EVENT_FIELDS;
    const ruled = random.some(['startDate', 'endDate', 'eventUrl'], random.below(4));
    const names = [...random.some(optional, random.below(6)), ...ruled];
    return Object.fromEntries(names.map((name) => [name, this.industryEventField(name)]));
  }

  eventUrl(): string {
    const strange = ['HTTPS://example.com/0', 'https://example.com/0/'];
    return this.random.chance(0.1) ? this.random.pick(strange) : `https://example.com/${this.random.below(41)}`;
  }

  private industryEventField(name: string): unknown {
    const { random } = this;
    if (/^numberOf/.test(name)) return random.pick([0, 4000, 2_147_483_647, null]);
    if (/Industries$|Personas$|^keywords$/.test(name)) return random.pick([[this.words(), this.filled()], [], null]);
    if (name === 'eventUrl') return random.pick([this.eventUrl(), this.eventUrl(), null]);
    if (name === 'startDate') return random.pick(MOMENTS);
    return name === 'endDate' ? random.pick(LAST_MOMENTS) : random.pick([this.words(), this.text()]);
  }
}
