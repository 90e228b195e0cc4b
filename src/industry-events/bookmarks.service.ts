import { Injectable } from '@nestjs/common';
import { many } from '../database/json';
import { Json, Statements } from '../database/statements';
import { Writes } from '../database/writes';
import type { Caller } from '../http/caller';
import { INDUSTRY_EVENT } from './industry-event.response';

const BOOKMARKED = {
  name: 'industryEvents.bookmarks',
  text: many(
    `select e.* from industry_event_bookmarks b join industry_events e on e.id = b.industry_event_id
      where b.organization_id = $1 order by e.position`,
    INDUSTRY_EVENT,
  ),
};

/** A change of the bookmark ($1, $2), with a row when there is such an industry event. */
const change = (sql: string): string => `
  with event as (select id from industry_events where id = $2), change as (${sql})
  select '{"success":true}' from event`;

const ADD = {
  name: 'bookmark.add',
  text: change(`insert into industry_event_bookmarks (organization_id, industry_event_id)
    select $1, id from event on conflict do nothing`),
};
const REMOVE = {
  name: 'bookmark.remove',
  text: change('delete from industry_event_bookmarks where organization_id = $1 and industry_event_id = $2'),
};

/** The industry events that an organization bookmarked. */
@Injectable()
export class BookmarksService {
  constructor(
    private readonly statements: Statements,
    private readonly writes: Writes,
  ) {}

  list(caller: Caller): Promise<Json> {
    return this.statements.one(caller, BOOKMARKED, []);
  }

  add(caller: Caller, industryEventId: string): Promise<Json> {
    return this.writes.one(caller, ADD, [industryEventId]);
  }

  remove(caller: Caller, industryEventId: string): Promise<Json> {
    return this.writes.one(caller, REMOVE, [industryEventId]);
  }
}
