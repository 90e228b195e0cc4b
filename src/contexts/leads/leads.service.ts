import { Injectable } from '@nestjs/common';
import { type JsonText, type Page, Statements } from '../../data/database/statements';
import { Writes } from '../../data/database/writes';
import { InvalidField, InvalidRequest, Overloaded, RowNotFound } from '../../errors/exceptions';
import type { PageQuery } from '../../fields/page-query';
import { isBlank } from '../../fields/text';
import type { Caller } from '../../http/pipeline/caller';
import {
  type LeadBatchV0Input,
  type LeadCreateV0Input,
  type LeadPatchV0Input,
  type LeadsQuery,
  type LeadUpsertV0Input,
  REQUIRED_FIELDS,
} from './lead.dto';
import * as SQL from './leads.sql';

/** The stored lead that an entry of a batch matches. */
interface Match {
  /** The lead to update; null if the entry creates one. */
  id: string | null;
  /** Zero-based index of the first entry that looks for the same value. */
  firstIndex: number;
}

/**
 * Form encoding turns the `+` in an address into a space. Real spaces occur only between quotes, as in
 * `"ada rowe"@example.com`.
 */
function restorePlus(address: string): string {
  const unquoted = address.lastIndexOf('"') + 1;
  return address.slice(0, unquoted) + address.slice(unquoted).replaceAll(' ', '+');
}

/** The words of a `q`; null if it is blank. @throws InvalidRequest */
function searchWords(q = ''): string[] | null {
  const words = q.split(/\s+/u).filter(Boolean);
  if (words.length === 0) return null;
  if (!words.every(isLongEnough)) throw new InvalidRequest('query q', 'range', { detail: SHORT_WORD });
  return words;
}

const SHORT_WORD = 'each word needs two letters or digits';
const LETTER_OR_DIGIT = /[\p{L}\p{Nd}]/gu;
/** A character of these scripts says as much as a syllable or a word of others. */
const SYLLABLE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

const isLongEnough = (word: string): boolean => SYLLABLE.test(word) || (word.match(LETTER_OR_DIGIT)?.length ?? 0) >= 2;

/** At most two attempts were needed when all leads of a batch were changed at once. */
const MAX_MATCH_ATTEMPTS = 10;

@Injectable()
export class LeadsService {
  constructor(
    private readonly statements: Statements,
    private readonly writes: Writes,
  ) {}

  /**
   * @throws InvalidRequest when only one of `remoteId` and `integrationType` is given, or a word of `q` is too short
   * @throws RowNotFound when the event is not the organization's
   */
  async list(caller: Caller, { limit, offset, ...query }: LeadsQuery): Promise<Page> {
    const page = { limit, offset };
    const { remoteId, integrationType, eventId, hasEmail, createdSince } = query;
    if ((remoteId === undefined) !== (integrationType === undefined)) {
      throw new InvalidRequest(`query ${remoteId === undefined ? 'remoteId' : 'integrationType'}`, 'missing');
    }
    const filters: SQL.LeadFilters = {
      email: query.email === undefined ? null : restorePlus(query.email),
      integrationType: integrationType ?? null,
      remoteId: remoteId ?? null,
      words: searchWords(query.q),
      eventId: eventId ?? null,
      hasEmail: hasEmail ?? null,
      createdSince: createdSince ?? null,
    };
    if (Object.values(filters).every((value) => value === null)) {
      return this.statements.paginate(caller, SQL.LIST_LEADS, [], page);
    }
    const indexed = SQL.INDEXED.find((filter) => filters[filter] !== null);
    const list = indexed ? SQL.LEADS_BY[indexed] : SQL.FILTERED_LEADS;
    try {
      return await this.statements.paginate(caller, list, SQL.filterValues(filters), page);
    } catch (error) {
      throw error instanceof RowNotFound ? new RowNotFound('query eventId') : error;
    }
  }

  /** @throws RowNotFound */
  listEvents(caller: Caller, leadId: string, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, SQL.LIST_LEAD_EVENTS, [leadId], page);
  }

  /** @throws RowNotFound */
  get(caller: Caller, leadId: string): Promise<JsonText> {
    return this.statements.selectOne(caller, SQL.GET_LEAD, [leadId]);
  }

  create(caller: Caller, input: LeadCreateV0Input): Promise<JsonText> {
    return this.writes.writeBatched(caller, SQL.CREATE_LEAD, input);
  }

  /** @throws RowNotFound */
  patch(caller: Caller, leadId: string, input: LeadPatchV0Input): Promise<JsonText> {
    if (Object.keys(input).length === 0) return this.get(caller, leadId);
    return this.writes.write(caller, SQL.PATCH_LEAD, [leadId, JSON.stringify(input)]);
  }

  /**
   * Updates the lead that an entry matches, or creates one. Entries that match one lead by different remote ids count as
   * one, in which the later field wins.
   * @returns the JSON texts of the outcomes in the order of the entries
   * @throws InvalidField when two entries have the same value, or one that creates lacks a field
   */
  upsert(caller: Caller, batch: LeadBatchV0Input): Promise<JsonText[]> {
    return this.writes.transaction(caller, async () => {
      await this.statements.selectOne(caller, SQL.LOCK_LEAD_LIST, []);
      const matches = await this.match(caller, batch);
      validateEntries(batch, matches);
      const entries = new Map<string | number, object>();
      const keys = matches.map(({ id }, n) => id ?? n);
      for (const [n, key] of keys.entries()) entries.set(key, { ...entries.get(key), ...batch.leads[n] });
      const ids = [...entries.keys()].map((key) => (typeof key === 'string' ? key : null));
      const values = [JSON.stringify([...entries.values()]), ids];
      const outcomes = await this.statements.selectJson(caller, SQL.UPSERT_LEADS, values);
      const outcomeOf = new Map([...entries.keys()].map((key, n) => [key, outcomes[n]]));
      return keys.map((key) => outcomeOf.get(key) as JsonText);
    });
  }

  /**
   * Finds and locks the leads that the entries match. While this waits for the lock of a lead, another request may delete
   * the lead or change the value that matched; then the search is repeated. Leads that are locked stay locked, so each
   * attempt waits for fewer of them.
   */
  private async match(caller: Caller, { matchBy, leads }: LeadBatchV0Input): Promise<Match[]> {
    if (matchBy === 'none') return leads.map((_: LeadUpsertV0Input, n) => ({ id: null, firstIndex: n }));
    const statement = matchBy === 'email' ? SQL.MATCH_LEADS_BY_EMAIL : SQL.MATCH_LEADS_BY_REMOTE_ID;
    const values = JSON.stringify(leads.map((lead) => lead[matchBy]));
    for (let attempt = 1; attempt <= MAX_MATCH_ATTEMPTS; attempt++) {
      const rows = await this.statements.selectJson(caller, statement, [values]);
      const matches = rows.map((row) => JSON.parse(row.text) as Match & { isLocked: boolean });
      if (matches.every(({ id, isLocked }) => id === null || isLocked)) return matches;
    }
    throw new Overloaded('The leads of a batch change all the time');
  }

  /** @throws RowNotFound */
  delete(caller: Caller, leadId: string): Promise<void> {
    return this.writes.deleteLong(caller, SQL.DELETE_LEAD, [leadId]);
  }
}

/** @throws InvalidField */
function validateEntries({ matchBy, leads }: LeadBatchV0Input, matches: Match[]): void {
  for (const [n, { id, firstIndex }] of matches.entries()) {
    if (firstIndex !== n) {
      throw new InvalidField(`leads[${n}].${matchBy}`, 'duplicate', {
        detail: `repeats leads[${firstIndex}].${matchBy}`,
      });
    }
    const missing = id === null && REQUIRED_FIELDS.find((field) => isBlank(leads[n]?.[field] ?? ''));
    if (missing) throw new InvalidField(`leads[${n}].${missing}`, 'missing');
  }
}
