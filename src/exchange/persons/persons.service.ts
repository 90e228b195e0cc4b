import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { recordAudit } from '../../access/audit-log.service';
import { lockOrganization, waitForImports } from '../../data/database/locks';
import { ExpectedError } from '../../errors/expected-error';
import { Datasets } from '../datasets/dataset';
import { recordJson } from '../datasets/record-sql';
import { tablesOf } from '../datasets/tables';
import { type LeadMatch, type LeadSummary, type PossibleLead, possibleLeads, reasonOf } from './lead-matches';
import type { Needles, Person } from './person-query';
import * as SQL from './persons.sql';
import { searchedTables, userLists } from './searched-tables';

/** Where an address or a number stands. */
export interface Occurrence {
  /** A section of import and export, or a table. */
  resource: string;
  /** The ID, or an object where several columns identify the row. */
  id: unknown;
  /** The path of the field, or the column if no record has it. */
  field: string;
}

/** What an organization has about a person. */
export interface PersonData {
  /** The leads, as GET returns them. */
  records: { id: string }[];
  /** Their activity events, as export writes them. */
  activityEvents: { id: string }[];
  /** Their associations with events and activations. */
  events: object[];
  /** Leads that may be the person. */
  possible: PossibleLead[];
  /** Where the address is that of a user. */
  asUser: Occurrence[];
  /** Other texts that contain an address or a number. */
  mentions: Occurrence[];
  /** Numbers of stored responses and of changes in the feed that hold one of the leads, an address or a number. */
  traces: { storedAnswers: number; changes: number };
}

/** What an erasure does, or would do. */
export interface Erasure {
  erased: boolean;
  /** Numbers of leads, stored responses and places of users. */
  leads: number;
  storedAnswers: number;
  asUser: number;
  /** The texts that stay. */
  mentions: Occurrence[];
  /** The leads that are deleted. */
  records: LeadSummary[];
}

export interface ErasureOptions {
  alsoAsUser: boolean;
  /** Called with an organization of which an import is running, before this waits for its end. */
  onWait: (organizationId: number) => void;
  /** Whether to erase these leads. If it throws, nothing is changed, either. */
  confirm: (leads: LeadSummary[]) => Promise<boolean>;
}

/** What is found of a person. */
interface FoundPerson {
  organizationId: number;
  leads: LeadSummary[];
  needles: Needles;
  data: PersonData;
}

/** Thrown for an ID that is not that of a lead of the organization. */
class UnknownLead extends ExpectedError {}

/** Responses of requests that are still running were not found before the leads were locked. No request takes that long. */
const LATEST_RESPONSES = '10 minutes';
const ALL_RESPONSES = '100 years';

const idsOf = (leads: { id: string }[]): string[] => leads.map(({ id }) => id);

/** What identifies the stored responses that hold the person: the parameters of their statements. */
const responseValues = ({ organizationId, leads, needles }: FoundPerson): unknown[] => {
  const { emailPatterns, emails, phonePatterns, phoneWords } = needles;
  return [organizationId, idsOf(leads), emailPatterns, emails, phonePatterns, phoneWords];
};

/** Finds and erases what an organization has about a person. */
@Injectable()
export class PersonsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly datasets: Datasets,
  ) {}

  /**
   * What belongs to a person, as of one moment.
   * @returns the data, a summary of the leads, and the document that can be handed to the person
   * @throws UnknownLead
   */
  find(person: Person): Promise<{ data: PersonData; leads: LeadSummary[]; document: object }> {
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const found = await this.findPerson(manager, person);
      const { data, leads } = found;
      return { data, leads, document: await this.documentOf(manager, found) };
    });
  }

  /**
   * Erases persons in one transaction, when no import of their organizations is running. Writers wait only while the leads are
   * deleted.
   * @throws UnknownLead
   */
  erase(persons: Person[], { alsoAsUser, onWait, confirm }: ErasureOptions): Promise<Erasure> {
    return this.dataSource.transaction(async (manager) => {
      const found: FoundPerson[] = [];
      for (const person of persons) {
        await waitForImports(manager, person.organizationId, () => onWait(person.organizationId));
        found.push(await this.findPerson(manager, person));
      }
      const records = found.flatMap(({ leads }) => leads);
      const erased = await confirm(records);
      if (erased) for (const each of found) await this.eraseFound(manager, each, alsoAsUser);
      const sum = (countOf: (data: PersonData) => number): number =>
        found.reduce((total, { data }) => total + countOf(data), 0);
      return {
        erased,
        leads: records.length,
        storedAnswers: sum(({ traces }) => traces.storedAnswers),
        asUser: alsoAsUser ? sum(({ asUser }) => asUser.length) : 0,
        mentions: found.flatMap(({ data }) => data.mentions),
        records,
      };
    });
  }

  private async findPerson(manager: EntityManager, person: Person): Promise<FoundPerson> {
    const { organizationId, emails, phones, others = [] } = person;
    const leadIds = person.leads;
    const identifiers = [organizationId, emails, phones, leadIds, others];
    const [needles] = await manager.query<[Needles]>(SQL.FIND_NEEDLES, identifiers);
    const matches = await manager.query<LeadMatch[]>(SQL.FIND_LEADS, [
      organizationId,
      leadIds,
      needles.emails,
      needles.emailPatterns,
      needles.phones,
      needles.phoneEndings,
    ]);
    const unknown = leadIds.find((id) => !matches.some((match) => match.id === id));
    if (unknown) throw new UnknownLead(`Lead ${unknown} does not exist in organization ${organizationId}.`);
    const records = matches.filter((match) => reasonOf(match, needles) !== undefined);
    const leads = records.map((match) => {
      const { id, name, createdAt } = match;
      return { id, name, createdAt, reason: reasonOf(match, needles) ?? '' };
    });
    const ids = idsOf(leads);
    const possible = possibleLeads(matches.filter((match) => !ids.includes(match.id)));
    const { asUser, mentions } = await this.findElsewhere(manager, organizationId, ids, needles);
    const isPossible = ({ resource, id, field }: Occurrence): boolean =>
      resource === 'leads' && possible.some((lead) => lead.id === id && lead.field === field);
    const data = {
      records: records.map(({ document }) => JSON.parse(document) as { id: string }),
      activityEvents: await this.findActivity(manager, organizationId, ids),
      events: await manager.query<object[]>(SQL.FIND_EVENTS, [organizationId, ids]),
      possible,
      asUser,
      mentions: mentions.filter((mention) => !isPossible(mention)),
      traces: { storedAnswers: 0, changes: 0 },
    };
    const found = { organizationId, leads, needles, data };
    data.traces = await this.countTraces(manager, found);
    return found;
  }

  private async countTraces(manager: EntityManager, found: FoundPerson): Promise<PersonData['traces']> {
    const count = async (statement: string, parameters: unknown[]): Promise<number> =>
      (await manager.query<{ count: number }[]>(statement, parameters))[0]?.count ?? 0;
    const { organizationId, leads, needles } = found;
    const storedAnswers = await count(SQL.COUNT_RESPONSES, responseValues(found));
    const changes = await count(SQL.COUNT_CHANGES, [organizationId, idsOf(leads), needles.emailPatterns]);
    return { storedAnswers, changes };
  }

  private async findActivity(
    manager: EntityManager,
    organizationId: number,
    leadIds: string[],
  ): Promise<{ id: string }[]> {
    const tables = tablesOf(this.dataSource, this.datasets);
    const table = tables.find(({ name }) => name === SQL.ACTIVITY_TABLE)!;
    const statement = SQL.findActivity(recordJson(table, 't'));
    const rows = await manager.query<{ record: string }[]>(statement, [organizationId, leadIds]);
    return rows.map(({ record }) => JSON.parse(record) as { id: string });
  }

  private async findElsewhere(
    manager: EntityManager,
    organizationId: number,
    leadIds: string[],
    { emails, emailPatterns, phonePatterns }: Needles,
  ): Promise<Pick<PersonData, 'asUser' | 'mentions'>> {
    const asUser: Occurrence[] = [];
    const mentions: Occurrence[] = [];
    for (const table of await searchedTables(manager, this.datasets)) {
      const values = [organizationId, emails, emailPatterns, phonePatterns, leadIds];
      const rows = await manager.query<(Omit<Occurrence, 'resource'> & { isUser: boolean })[]>(
        SQL.findOccurrences(table),
        values,
      );
      for (const { id, field, isUser } of rows) {
        (isUser ? asUser : mentions).push({ resource: table.resource, id, field });
      }
    }
    for (const { resource, field, statement } of userLists(this.dataSource, this.datasets)) {
      const rows = await manager.query<{ id: unknown }[]>(statement, [organizationId, emails]);
      asUser.push(...rows.map(({ id }) => ({ resource, id, field })));
    }
    return { asUser, mentions };
  }

  /** What can be handed to a person: nobody else's ID or address stands in it, apart from what people wrote into a text. */
  private async documentOf(manager: EntityManager, { organizationId, leads, needles, data }: FoundPerson) {
    const { records, activityEvents, events, asUser } = data;
    const users = [...records, ...activityEvents].flatMap((record) =>
      SQL.USER_FIELDS.map((field) => valueOf(record, field)),
    );
    const values = [organizationId, idsOf(leads), needles.emails, users];
    const own = await manager.query<{ address: string }[]>(SQL.FIND_OWN_ADDRESSES, values);
    const ownAddresses: unknown[] = own.map(({ address }) => address);
    const withoutOthers = (record: object): object => {
      const isOthers = (field: string): boolean => field in record && !ownAddresses.includes(valueOf(record, field));
      return { ...record, ...Object.fromEntries(SQL.USER_FIELDS.filter(isOthers).map((field) => [field, null])) };
    };
    const places = new Map<string, { resource: string; field: string; count: number }>();
    for (const { resource, field } of asUser) {
      const place = places.get(`${resource} ${field}`) ?? { resource, field, count: 0 };
      places.set(`${resource} ${field}`, { ...place, count: place.count + 1 });
    }
    return {
      records: records.map(withoutOthers),
      activityEvents: activityEvents.map(withoutOthers),
      events,
      asUser: [...places.values()],
    };
  }

  private async eraseFound(manager: EntityManager, found: FoundPerson, alsoAsUser: boolean): Promise<void> {
    const { organizationId, leads, needles } = found;
    const responses = responseValues(found);
    await manager.query(SQL.REPLACE_RESPONSES, [...responses, ALL_RESPONSES]);
    await lockOrganization(manager, organizationId);
    await manager.query(SQL.DELETE_LEADS, [organizationId, idsOf(leads)]);
    for (const table of alsoAsUser ? await searchedTables(manager, this.datasets) : []) {
      for (const statement of SQL.eraseUsers(table)) await manager.query(statement, [organizationId, needles.emails]);
    }
    await manager.query(SQL.REPLACE_RESPONSES, [...responses, LATEST_RESPONSES]);
    await recordAudit(manager, {
      organizationId,
      operation: 'persons erase',
      resource: 'erasures',
      change: 'created',
    });
  }
}

const valueOf = (record: object, field: string): unknown => (record as Record<string, unknown>)[field];
