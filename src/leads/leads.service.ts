import { BadRequestException, Injectable } from '@nestjs/common';
import type { Json, Page } from '../database/statements';
import type { Caller } from '../http/caller';
import { InvalidField } from '../http/errors';
import { type LeadBatchV0Input, type LeadsQuery, REQUIRED_FIELDS } from './lead.dto';
import { LeadsRepository } from './leads.repository';

@Injectable()
export class LeadsService {
  constructor(private readonly leads: LeadsRepository) {}

  /** @throws BadRequestException when only one of `remoteId` and `integrationType` is given */
  list(caller: Caller, query: LeadsQuery): Promise<Page> {
    if ((query.remoteId === undefined) !== (query.integrationType === undefined)) throw new BadRequestException();
    return this.leads.list(caller, query);
  }

  /** @throws InvalidField when two entries have the same value, or one that creates lacks a field */
  upsert(caller: Caller, { matchBy, leads }: LeadBatchV0Input): Promise<Json[]> {
    return this.leads.upsert(caller, matchBy, leads, (matches) => {
      for (const [n, { id, first }] of matches.entries()) {
        if (first !== n) throw new InvalidField(`leads[${n}].${matchBy}`);
        const missing = id === null && REQUIRED_FIELDS.find((field) => !leads[n]?.[field]?.trim());
        if (missing) throw new InvalidField(`leads[${n}].${missing}`);
      }
    });
  }
}
