import { Injectable } from '@nestjs/common';
import type { PageQuery } from '../../fields/page-query';
import { arrivalList } from '../../data/database/paginate';
import { type JsonText, type Page, Statements } from '../../data/database/statements';
import type { Caller } from '../../http/pipeline/caller';
import { ActivationEntity } from './activation.entity';
import { ACTIVATION_JSON } from './activation.response';

export const LIST_ACTIVATIONS = arrivalList({ entity: ActivationEntity, rowJson: ACTIVATION_JSON });

export const GET_ACTIVATION = {
  name: 'activation.get',
  text: `select ${ACTIVATION_JSON} from activations where organization_id = $1 and id = $2`,
};

@Injectable()
export class ActivationsService {
  constructor(private readonly statements: Statements) {}

  list(caller: Caller, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, LIST_ACTIVATIONS, [], page);
  }

  /** @throws RowNotFound */
  get(caller: Caller, activationId: string): Promise<JsonText> {
    return this.statements.selectOne(caller, GET_ACTIVATION, [activationId]);
  }
}
