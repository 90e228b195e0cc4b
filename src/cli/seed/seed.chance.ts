import { hash } from 'node:crypto';
import type { Faker } from '@faker-js/faker';
import type { Seed } from './seed.plan';

/** Where somebody lives; the Faker knows the names there. */
interface Place {
  faker: Faker;
  country: string;
  timeZone: string;
  /** degrees; roughly there */
  latitude: number;
  longitude: number;
}

export const DAY = 86_400_000;

/** Random numbers that a seed makes the same each time, and what is made of them. */
export class Chance {
  private constructor(
    private readonly seed: Seed,
    private readonly next: () => number,
    private readonly places: { weight: number; value: Place }[],
    /** for what has no language */
    readonly faker: Faker,
  ) {}

  /** The library takes a quarter of a second to load, so nothing else has it loaded. */
  static async of(seed: Seed): Promise<Chance> {
    const library = await import('@faker-js/faker');
    const randomizer = library.generateMersenne53Randomizer(seed.seed);
    const faker = new library.Faker({ locale: [library.en, library.base], randomizer });
    const places = (
      [
        [6, library.en_US, 'United States', 'America/New_York', 40, -76],
        [4, library.de, 'Germany', 'Europe/Berlin', 51, 10],
        [3, library.en_GB, 'United Kingdom', 'Europe/London', 52, -1],
        [2, library.fr, 'France', 'Europe/Paris', 47, 3],
        [2, library.es, 'Spain', 'Europe/Madrid', 40, -3],
        [2, library.nl, 'Netherlands', 'Europe/Amsterdam', 52, 5],
        [1, library.it, 'Italy', 'Europe/Rome', 43, 12],
        [1, library.pl, 'Poland', 'Europe/Warsaw', 52, 19],
        [1, library.sv, 'Sweden', 'Europe/Stockholm', 59, 15],
        [1, library.pt_BR, 'Brazil', 'America/Sao_Paulo', -21, -46],
        [1, library.tr, 'Türkiye', 'Europe/Istanbul', 40, 32],
      ] as const
    ).map(([weight, own, country, timeZone, latitude, longitude]) => {
      const locale = [own, library.en, library.base];
      const faker = new library.Faker({ locale, randomizer });
      return { weight, value: { faker, country, timeZone, latitude, longitude } };
    });
    return new Chance(seed, () => randomizer.next(), places, faker);
  }

  place = (): Place => this.faker.helpers.weightedArrayElement(this.places);

  /** From 0 up to a number. */
  upTo = (end: number): number => this.next() * end;
  below = (end: number): number => Math.floor(this.upTo(end));
  happens = (share: number): boolean => this.next() < share;
  perhaps = <T>(share: number, make: () => T): T | null => (this.happens(share) ? make() : null);
  one = <T>(all: readonly T[]): T => all[this.below(all.length)] as T;

  /** 555-0100 to 555-0199 are kept for fiction, in every area. */
  phone = (): string => `+1 ${201 + this.below(780)} 555 01${String(this.below(100)).padStart(2, '0')}`;

  /** A uuid of version 7, which sorts by its moment; the rest is a digest of what it stands for, so nothing random. */
  id(moment: number, name: string): string {
    const { organizationId, seed } = this.seed;
    const time = Math.floor(moment).toString(16).padStart(12, '0');
    const digest = hash('sha256', JSON.stringify([organizationId, seed, name]), 'hex');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${digest.slice(0, 3)}-8${digest.slice(3, 6)}-${digest.slice(6, 18)}`;
  }
}

export const iso = (moment: number): string => new Date(moment).toISOString();

/** A name as it stands in an address. */
export const slug = (name: string): string =>
  name
    .replace(/[łŁ]/g, 'l')
    .replaceAll('ı', 'i')
    .replaceAll('ß', 'ss')
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'x';
