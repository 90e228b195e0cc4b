import { feedResource, uuidKey } from '../../feed/changes/feed-resource';
import { EXAMPLE_ACTIVATION_ID } from '../../openapi/example-ids';
import { ACTIVATIONS } from './activation.dataset';
import { ActivationEntity } from './activation.entity';
import { ACTIVATION_JSON, ActivationV0Response } from './activation.response';
import { ActivationsModule } from './activations.module';

export const ACTIVATIONS_CONTEXT = {
  module: ActivationsModule,
  sections: { activations: ACTIVATIONS },
  feedResources: [
    feedResource(ActivationEntity, {
      name: 'activations',
      number: 3,
      model: ActivationV0Response,
      recordSql: ACTIVATION_JSON,
      key: uuidKey(EXAMPLE_ACTIVATION_ID),
    }),
  ],
};
