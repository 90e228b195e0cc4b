import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { OrganizationsService } from '../../access/organizations.service';
import * as SQL from './erasure.sql';
import type { Person } from './person-query';

/** A line of a record of erasures: when, and the hashes of what identified the person. */
export interface RecordedErasure {
  at: string;
  sha256: string[];
}

/** A record of erasures. */
export interface ErasureRecord {
  salt: string;
  erasures: RecordedErasure[];
  /** Of the first form of the file, which has one hash of an address in each line. */
  formerErasures: RecordedErasure[];
}

/** The hash of an address in the first form of the file. @param address in JavaScript's lower case */
export type FormerHash = (organizationId: number, address: string) => string;

/** A lead that has what a record names, and stays. */
export interface KeptLead {
  organizationId: number;
  id: string;
  /** As far as it is known. */
  createdAt: Date;
  reason: string;
}

/** What a lead has that a record names. */
interface HashedMatch {
  leadId: string;
  kind: 'lead' | 'address' | 'number';
  value: string;
  /** The time of the last line that names it. */
  at: Date;
}

interface Arrival {
  id: string;
  createdAt: Date;
  loggedAt: Date | null;
  loggedSince: Date | null;
}

/** The addresses in a text, as the first form of the file had them. */
const formerAddresses = (text: string): string[] =>
  text
    .trim()
    .toLowerCase()
    .split(/[\s,;|<>]+/)
    .filter((token) => token.includes('@'));

/** Names erased persons by hashes, and finds them again after a restore. */
@Injectable()
export class ErasedPersonsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly organizations: OrganizationsService,
  ) {}

  /** The line that names a person and the leads that are deleted. */
  async hash(salt: string, { organizationId, emails, phones }: Person, leadIds: string[]): Promise<RecordedErasure> {
    const values = [salt, organizationId, emails, phones, leadIds];
    const [line] = await this.dataSource.query<[RecordedErasure]>(SQL.HASH_ERASURE, values);
    return line;
  }

  /**
   * Finds in all organizations whom a record means: leads by their IDs, and leads that have an address or a number and arrived
   * before the line.
   * @returns the persons, and the leads that have the address or the number and stay
   */
  async find(record: ErasureRecord, formerHash: FormerHash): Promise<{ persons: Person[]; kept: KeptLead[] }> {
    const persons: Person[] = [];
    const kept: KeptLead[] = [];
    for (const { id: organizationId } of await this.organizations.list()) {
      const matches = await this.findMatches(organizationId, record, formerHash);
      const ids = [...new Set(matches.map(({ leadId }) => leadId))];
      const arrivals = await this.dataSource.query<Arrival[]>(SQL.FIND_ARRIVALS, [organizationId, ids]);
      const person = { organizationId, emails: [], phones: [], leads: [] as string[], others: [] as string[] };
      for (const arrival of arrivals) {
        const reason = reasonToKeep(
          arrival,
          matches.filter(({ leadId }) => leadId === arrival.id),
        );
        if (reason) kept.push({ organizationId, id: arrival.id, createdAt: arrival.createdAt, reason });
        (reason ? person.others : person.leads).push(arrival.id);
      }
      if (person.leads.length > 0) persons.push(person);
    }
    return { persons, kept };
  }

  private async findMatches(
    organizationId: number,
    { salt, erasures, formerErasures }: ErasureRecord,
    formerHash: FormerHash,
  ): Promise<HashedMatch[]> {
    const lines = erasures.flatMap(({ at, sha256 }) => sha256.map((each) => ({ at, sha256: each })));
    const matches = await this.dataSource.query<HashedMatch[]>(SQL.FIND_HASHED, [
      salt,
      organizationId,
      lines.map(({ sha256 }) => sha256),
      lines.map(({ at }) => at),
    ]);
    if (formerErasures.length === 0) return matches;
    const times = new Map(formerErasures.flatMap(({ at, sha256 }) => sha256.map((each) => [each, new Date(at)])));
    const texts = await this.dataSource.query<{ leadId: string; text: string }[]>(SQL.LEAD_ADDRESSES, [organizationId]);
    const former = texts.flatMap(({ leadId, text }) =>
      formerAddresses(text).flatMap((value): HashedMatch[] => {
        const at = times.get(formerHash(organizationId, value));
        return at ? [{ leadId, kind: 'address', value, at }] : [];
      }),
    );
    return [...matches, ...former];
  }
}

/** Why a lead stays, if it does. */
function reasonToKeep({ createdAt, loggedAt, loggedSince }: Arrival, matches: HashedMatch[]): string | undefined {
  if (matches.some(({ kind }) => kind === 'lead')) return undefined;
  const at = new Date(Math.max(...matches.map((match) => match.at.getTime())));
  const isLater = (loggedAt ?? createdAt) >= at;
  if (isLater) return 'arrived after the erasure';
  // An entry of the time of the line is gone, and an import may have set createdAt.
  if (!loggedAt && loggedSince && loggedSince > at) return 'arrival unknown: the audit log begins after the erasure';
  return undefined;
}
