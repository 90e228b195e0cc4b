import { Injectable } from '@nestjs/common';
import { one } from '../database/json';
import { LISTS } from '../database/lists';
import { tracked } from '../database/listings';
import { Json, Page, Statements } from '../database/statements';
import type { Caller } from '../http/caller';
import type { PageQuery } from '../api-schema/parameters';
import { ACTIVATION } from './activation.response';

const LIST = tracked(LISTS.activations, ACTIVATION);

const ONE = {
  name: 'activation',
  text: one('select * from activations where organization_id = $1 and id = $2', ACTIVATION),
};

@Injectable()
export class ActivationsService {
  constructor(private readonly statements: Statements) {}

  list(caller: Caller, page: PageQuery): Promise<Page> {
    return this.statements.page(caller, LIST, [], page);
  }

  get(caller: Caller, activationId: string): Promise<Json> {
    return this.statements.one(caller, ONE, [activationId]);
  }
}
