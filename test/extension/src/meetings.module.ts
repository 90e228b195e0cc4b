import { Body, ConflictException, Controller, Get, Injectable, Module, Patch, Post, Query } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import {
  arrivalList,
  type Caller,
  CurrentCaller,
  DateTime,
  DateTimeInput,
  Decimal,
  decimalColumn,
  json,
  LeadsModule,
  LeadsService,
  ListedEntity,
  ListedUuidRow,
  nullable,
  optional,
  optionalNullable,
  PageQuery,
  RefersTo,
  repositoryFor,
  Returns,
  ReturnsPage,
  RowNotFound,
  Statements,
  Uuid,
  UuidParam,
} from 'lanyard';
import { Column, Repository, Unique } from 'typeorm';

const PRICE = { precision: 10, scale: 2 };

@ListedEntity('meetings', { parent: { table: 'leads', property: 'leadId', type: 'uuid' } })
@RefersTo('LeadEntity', 'leadId', 'meetings_lead_fkey')
@Unique('meetings_starts_at_key', ['organizationId', 'startsAt'])
export class Meeting extends ListedUuidRow {
  @Column('uuid') leadId: string;
  @Column({ type: 'timestamptz', precision: 3 }) startsAt: Date;
  @Column(decimalColumn({ ...PRICE, nullable: true })) price: number | null;
}

export class MeetingResponse {
  @Uuid() id: string;
  @Uuid() leadId: string;
  @DateTime() startsAt: string;
  @Decimal({ ...PRICE, ...nullable }) price: number | null;
}

export const MEETING = json<MeetingResponse>({
  id: 'id',
  leadId: 'lead_id',
  startsAt: 'iso_utc(starts_at)',
  price: 'price',
});

class CreateMeetingDto {
  @DateTimeInput() startsAt: string;
  @Decimal({ ...PRICE, ...optionalNullable }) price?: number | null;
}

class PatchMeetingDto {
  @DateTimeInput(optional) startsAt?: string;
  @Decimal({ ...PRICE, ...optionalNullable }) price?: number | null;
}

const LEAD_EXISTS = 'select from leads where organization_id = $1 and id = $2';
const LIST = arrivalList({ entity: Meeting, rowJson: MEETING, parentExists: LEAD_EXISTS });
const GET = { name: 'meeting.get', text: `select ${MEETING} from meetings where organization_id = $1 and id = $2` };

function explain(error: unknown): never {
  const { constraint } = error as { constraint?: string };
  if (constraint === 'meetings_starts_at_key') throw new ConflictException('Another meeting starts at that time');
  if (constraint === 'meetings_lead_fkey') throw new RowNotFound('path leadId');
  throw error;
}

@Injectable()
export class MeetingsService {
  constructor(
    @InjectRepository(Meeting) private readonly meetings: Repository<Meeting>,
    private readonly statements: Statements,
    private readonly leads: LeadsService,
  ) {}

  list(caller: Caller, leadId: string, page: PageQuery) {
    return this.statements.paginate(caller, LIST, [leadId], page);
  }

  get(caller: Caller, id: string) {
    return this.statements.selectOne(caller, GET, [id]);
  }

  async getWithLead(caller: Caller, id: string) {
    const { leadId } = await repositoryFor(caller, this.meetings).findOneByOrFail({ id });
    return { meeting: await this.get(caller, id), lead: await this.leads.get(caller, leadId) };
  }

  async create(caller: Caller, leadId: string, body: CreateMeetingDto) {
    const { id } = await repositoryFor(caller, this.meetings)
      .save({ ...body, leadId })
      .catch(explain);
    return this.get(caller, id);
  }

  async patch(caller: Caller, id: string, body: PatchMeetingDto) {
    if (Object.keys(body).length > 0) await repositoryFor(caller, this.meetings).update({ id }, body).catch(explain);
    return this.get(caller, id);
  }
}

@Controller()
class MeetingsController {
  constructor(private readonly meetings: MeetingsService) {}

  @Get('leads/:leadId/meetings')
  @ReturnsPage('meetings', MeetingResponse)
  list(@CurrentCaller() caller: Caller, @UuidParam('leadId') leadId: string, @Query() page: PageQuery) {
    return this.meetings.list(caller, leadId, page);
  }

  @Post('leads/:leadId/meetings')
  @Returns(MeetingResponse, 'The new meeting.')
  create(@CurrentCaller() caller: Caller, @UuidParam('leadId') leadId: string, @Body() body: CreateMeetingDto) {
    return this.meetings.create(caller, leadId, body);
  }

  @Get('meetings/:meetingId')
  get(@CurrentCaller() caller: Caller, @UuidParam('meetingId') id: string) {
    return this.meetings.getWithLead(caller, id);
  }

  @Patch('meetings/:meetingId')
  @Returns(MeetingResponse, 'The meeting as it is now.')
  patch(@CurrentCaller() caller: Caller, @UuidParam('meetingId') id: string, @Body() body: PatchMeetingDto) {
    return this.meetings.patch(caller, id, body);
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Meeting]), LeadsModule],
  controllers: [MeetingsController],
  providers: [MeetingsService],
})
export class MeetingsModule {}
