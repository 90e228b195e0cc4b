import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { recordAudit } from '../access/audit-log.service';
import { lockOrganization } from '../database/locks';
import { Datasets } from '../datasets/dataset';
import { addressesIn, type Needles, needlesOf, type PersonQuery } from './person-query';
import {
  COUNT_CHANGES,
  COUNT_RESPONSES,
  DELETE_LEADS,
  eraseUser,
  FIND_EVENTS,
  FIND_LEADS,
  findLinkedRecords,
  findOccurrences,
  LEAD_ADDRESSES,
  LOCK_LEADS,
  REPLACE_RESPONSES,
} from './persons.sql';
import { searchedTables, userLinks } from './searched-tables';

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
  records: object[];
  /** Where the address is that of a user. */
  asUser: Occurrence[];
  /** Other texts that contain an address or a number. */
  mentions: Occurrence[];
  /** Numbers of stored responses and of changes in the feed that hold one of the leads or an address. */
  traces: { storedAnswers: number; changes: number };
}

/** An association of a lead with an event. */
export interface PersonEvent {
  leadId: string;
  eventId: number;
  name: string;
  registered: boolean;
  checkedIn: boolean;
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

export interface EraseOptions {
  /** How many leads it must be, or undefined to change nothing. */
  expectedLeads?: number;
  alsoAsUser?: boolean;
  /** Called before anything is deleted. If it fails, nothing is. */
  beforeErasing?: () => Promise<void>;
}

/** A person in an organization. */
export interface Person {
  organizationId: number;
  query: PersonQuery;
}

/** The number of leads is another than the operator has confirmed. */
export class UnexpectedLeads extends Error {
  constructor(readonly leads: number) {
    super(`${leads} leads`);
  }
}

interface FoundLead {
  id: string;
  document: string;
  email: string | null;
  personalEmails: string | null;
  professionalEmails: string | null;
  phones: string[];
}

interface Found extends PersonData {
  leadIds: string[];
  needles: Needles;
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

  /** What belongs to a person, as of one moment, with the events of the leads. */
  find({ organizationId, query }: Person): Promise<PersonData & { events: PersonEvent[] }> {
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const { leadIds, records, asUser, mentions, traces } = await this.findAll(manager, organizationId, query);
      const events = await manager.query<PersonEvent[]>(FIND_EVENTS, [organizationId, leadIds]);
      return { records, asUser, mentions, traces, events };
    });
  }

  /**
   * Erases persons in one transaction. Writers wait only while the leads are deleted.
   * @throws UnexpectedLeads if the leads of all persons together are not as many as expected. Then nothing is changed.
   */
  erase(persons: Person[], { expectedLeads, alsoAsUser = false, beforeErasing }: EraseOptions): Promise<Erasure> {
    return this.dataSource.transaction(async (manager) => {
      const total: Erasure = {
        erased: expectedLeads !== undefined,
        leads: 0,
        storedAnswers: 0,
        asUser: 0,
        mentions: [],
      };
      const found: { organizationId: number; found: Found }[] = [];
      for (const { organizationId, query } of persons) {
        const each = await this.findAll(manager, organizationId, query);
        found.push({ organizationId, found: each });
        total.leads += each.leadIds.length;
        total.storedAnswers += each.traces.storedAnswers;
        if (alsoAsUser) total.asUser += each.asUser.length;
        total.mentions.push(...each.mentions);
      }
      if (expectedLeads === undefined) return total;
      if (expectedLeads !== total.leads) throw new UnexpectedLeads(total.leads);
      await beforeErasing?.();
      for (const each of found) await this.eraseFound(manager, each.organizationId, each.found, alsoAsUser);
      return total;
    });
  }

  /** The addresses of all leads of an organization, each once. */
  async addresses(organizationId: number): Promise<string[]> {
    const rows = await this.dataSource.query<{ text: string }[]>(LEAD_ADDRESSES, [organizationId]);
    return [...new Set(rows.flatMap(({ text }) => addressesIn(text)))];
  }

  private async findAll(manager: EntityManager, organizationId: number, query: PersonQuery): Promise<Found> {
    const { emails, phones, leads } = query;
    const { emailPatterns } = needlesOf({ emails, phones });
    const rows = await manager.query<FoundLead[]>(FIND_LEADS, [organizationId, emails, phones, leads, emailPatterns]);
    // What a lead that was named by its ID has is looked for elsewhere.
    const named = rows.filter(({ id }) => leads.includes(id));
    const addresses = named.flatMap((lead) =>
      addressesIn([lead.email, lead.personalEmails, lead.professionalEmails].join(' ')),
    );
    const needles = needlesOf({
      emails: [...new Set([...emails, ...addresses])],
      phones: [...new Set([...phones, ...named.flatMap((lead) => lead.phones)])],
    });
    const leadIds = rows.map(({ id }) => id);
    return {
      leadIds,
      needles,
      records: rows.map(({ document }) => JSON.parse(document) as object),
      ...(await this.findElsewhere(manager, organizationId, leadIds, needles)),
      traces: {
        storedAnswers: await count(manager, COUNT_RESPONSES, responseValues(organizationId, leadIds, needles)),
        changes: await count(manager, COUNT_CHANGES, [organizationId, leadIds, needles.emailPatterns]),
      },
    };
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
      const rows = await manager.query<{ id: unknown; column: string; isUser: boolean }[]>(
        findOccurrences(table),
        values,
      );
      for (const { id, column, isUser } of rows) {
        const field = table.columns.find(({ name }) => name === column)?.field ?? column;
        (isUser ? asUser : mentions).push({ resource: table.resource, id, field });
      }
    }
    for (const links of userLinks(this.dataSource, this.datasets)) {
      const rows = await manager.query<{ id: unknown }[]>(findLinkedRecords(links), [organizationId, emails]);
      asUser.push(...rows.map(({ id }) => ({ resource: links.resource, id, field: links.field })));
    }
    return { asUser, mentions };
  }

  private async eraseFound(
    manager: EntityManager,
    organizationId: number,
    { leadIds, needles }: Found,
    alsoAsUser: boolean,
  ): Promise<void> {
    const responses = responseValues(organizationId, leadIds, needles);
    await manager.query(REPLACE_RESPONSES, [...responses, ALL_RESPONSES]);
    await lockOrganization(manager, organizationId);
    await manager.query(LOCK_LEADS, [organizationId, leadIds]);
    await manager.query(DELETE_LEADS, [organizationId, leadIds]);
    if (alsoAsUser) await this.eraseUsers(manager, organizationId, needles.emails);
    await manager.query(REPLACE_RESPONSES, [...responses, LATEST_RESPONSES]);
    await recordAudit(manager, {
      organizationId,
      operation: 'persons erase',
      resource: 'erasures',
      change: 'created',
    });
  }

  private async eraseUsers(manager: EntityManager, organizationId: number, emails: string[]): Promise<void> {
    for (const table of await searchedTables(manager, this.datasets)) {
      // The shared catalog belongs to no organization, so none of its records is changed.
      if (!table.organizationColumn) continue;
      for (const column of table.columns.filter(({ holdsUser }) => holdsUser)) {
        const statement = eraseUser(table, column);
        if (statement) await manager.query(statement, [organizationId, emails]);
      }
    }
  }
}

const responseValues = (organizationId: number, leadIds: string[], needles: Needles): unknown[] => [
  organizationId,
  leadIds,
  needles.emailPatterns,
  needles.wholeEmailPatterns,
  needles.phonePatterns,
];

async function count(manager: EntityManager, statement: string, values: unknown[]): Promise<number> {
  const [row] = await manager.query<{ count: number }[]>(statement, values);
  return row?.count ?? 0;
}
