import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { recordAudit } from '../../access/audit-log.service';
import { lockOrganization } from '../../data/database/locks';
import { Datasets } from '../datasets/dataset';
import { addressesIn, type Needles, needlesOf, type PersonQuery } from './person-query';
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
  /** Where the address is that of a user. */
  asUser: Occurrence[];
  /** Other texts that contain an address or a number. */
  mentions: Occurrence[];
  /** Numbers of stored responses and of changes in the feed that hold one of the leads or an address. */
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
}

/** A person in an organization. */
export interface Person extends PersonQuery {
  organizationId: number;
}

interface Found {
  organizationId: number;
  leadIds: string[];
  /** The addresses that are looked for. */
  emails: string[];
  /** What identifies the stored responses that hold the person: the parameters of their statements. */
  responses: unknown[];
  data: PersonData;
}

/** Responses of requests that are still running were not found before the leads were locked. No request takes that long. */
const LATEST_RESPONSES = '10 minutes';
const ALL_RESPONSES = '100 years';

/** Finds and erases what an organization has about a person. */
@Injectable()
export class PersonsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly datasets: Datasets,
  ) {}

  /** What belongs to a person, as of one moment, with the associations of the leads with events. */
  find(person: Person): Promise<PersonData & { events: object[] }> {
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const { leadIds, data } = await this.findAll(manager, person);
      const events = await manager.query<object[]>(SQL.FIND_EVENTS, [person.organizationId, leadIds]);
      return { ...data, events };
    });
  }

  /**
   * Erases persons in one transaction. Writers wait only while the leads are deleted.
   * @param confirm whether to erase this number of leads. If it throws, nothing is changed, either.
   */
  erase(persons: Person[], alsoAsUser: boolean, confirm: (leads: number) => Promise<boolean>): Promise<Erasure> {
    return this.dataSource.transaction(async (manager) => {
      const found: Found[] = [];
      for (const person of persons) found.push(await this.findAll(manager, person));
      const sum = (countOf: (each: Found) => number): number => found.reduce((total, each) => total + countOf(each), 0);
      const leads = sum(({ leadIds }) => leadIds.length);
      const erased = await confirm(leads);
      if (erased) for (const each of found) await this.eraseFound(manager, each, alsoAsUser);
      return {
        erased,
        leads,
        storedAnswers: sum(({ data }) => data.traces.storedAnswers),
        asUser: alsoAsUser ? sum(({ data }) => data.asUser.length) : 0,
        mentions: found.flatMap(({ data }) => data.mentions),
      };
    });
  }

  /** The addresses of all leads of an organization, each once. */
  async addresses(organizationId: number): Promise<string[]> {
    const rows = await this.dataSource.query<{ text: string }[]>(SQL.LEAD_ADDRESSES, [organizationId]);
    return [...new Set(rows.flatMap(({ text }) => addressesIn(text)))];
  }

  private async findAll(manager: EntityManager, person: Person): Promise<Found> {
    const { organizationId, leads } = person;
    const values = [organizationId, person.emails, person.phones, leads, needlesOf(person).emailPatterns];
    const rows = await manager.query<{ id: string; document: string; addresses: string; phones: string[] }[]>(
      SQL.FIND_LEADS,
      values,
    );
    // What a lead that was named by its ID has is looked for elsewhere.
    const named = rows.filter(({ id }) => leads.includes(id));
    const needles = needlesOf({
      emails: [...new Set([...person.emails, ...named.flatMap(({ addresses }) => addressesIn(addresses))])],
      phones: [...new Set([...person.phones, ...named.flatMap(({ phones }) => phones)])],
    });
    const { emails, emailPatterns, wholeEmailPatterns, phonePatterns } = needles;
    const leadIds = rows.map(({ id }) => id);
    const responses = [organizationId, leadIds, emailPatterns, wholeEmailPatterns, phonePatterns];
    const count = async (statement: string, parameters: unknown[]): Promise<number> =>
      (await manager.query<{ count: number }[]>(statement, parameters))[0]?.count ?? 0;
    const storedAnswers = await count(SQL.COUNT_RESPONSES, responses);
    const changes = await count(SQL.COUNT_CHANGES, [organizationId, leadIds, emailPatterns]);
    const data = {
      records: rows.map(({ document }) => JSON.parse(document) as { id: string }),
      ...(await this.findElsewhere(manager, organizationId, leadIds, needles)),
      traces: { storedAnswers, changes },
    };
    return { organizationId, leadIds, emails, responses, data };
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

  private async eraseFound(
    manager: EntityManager,
    { organizationId, leadIds, emails, responses }: Found,
    alsoAsUser: boolean,
  ): Promise<void> {
    await manager.query(SQL.REPLACE_RESPONSES, [...responses, ALL_RESPONSES]);
    await lockOrganization(manager, organizationId);
    await manager.query(SQL.DELETE_LEADS, [organizationId, leadIds]);
    for (const table of alsoAsUser ? await searchedTables(manager, this.datasets) : []) {
      for (const statement of SQL.eraseUsers(table)) await manager.query(statement, [organizationId, emails]);
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
