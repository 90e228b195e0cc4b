import { INDUSTRY_EVENTS } from './industry-event.dataset';
import { IndustryEventsModule } from './industry-events.module';

export const INDUSTRY_EVENTS_CONTEXT = {
  module: IndustryEventsModule,
  sections: { industryEvents: INDUSTRY_EVENTS },
};
