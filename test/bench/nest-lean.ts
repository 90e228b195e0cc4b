// NestJS on Express around the statements of the minimal server: a guard for key and token, and Nest's validation. What the
// framework costs, and so a line to measure Lanyard from. Settings: PORT, and those of minimal-statements.mjs.
import 'reflect-metadata';
import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  Get,
  HttpException,
  Injectable,
  Module,
  NotFoundException,
  Param,
  Patch,
  Post,
  Put,
  Query,
  Req,
  Res,
  UnauthorizedException,
  ValidationPipe,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsEmail,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  IsUUID,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import type { Request, Response } from 'express';
import { answers, organizations, takeToken } from './minimal-statements.mjs';

const PHONE_TYPES = ['MOBILE', 'LANDLINE', 'DIRECT', 'OFFICE', 'HQ', 'UNKNOWN'];

class PageQuery {
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) limit?: number;
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) offset?: number;
  @IsOptional() @IsUUID('all') leadId?: string;
  @IsOptional() @IsString() q?: string;
}

class PhoneDto {
  @IsString() @MaxLength(255) number: string;
  @IsIn(PHONE_TYPES) type: string;
  @IsBoolean() preferred: boolean;
}

class CreateLeadDto {
  @IsEmail() createdByEmail: string;
  @IsString() firstName: string;
  @IsString() lastName: string;
  @IsString() companyName: string;
  @IsOptional() @IsEmail() email?: string;
  @IsArray() @ArrayMaxSize(50) @ValidateNested({ each: true }) @Type(() => PhoneDto) phoneNumbers: PhoneDto[];
}

class PatchLeadDto {
  @IsString() jobTitle: string;
  @IsArray() @ValidateNested({ each: true }) @Type(() => PhoneDto) phoneNumbers: PhoneDto[];
}

class EventLeadDto {
  @IsUUID('all') leadId: string;
  @IsBoolean() registered: boolean;
  @IsBoolean() checkedIn: boolean;
}

class EventLeadsDto {
  @IsArray() @ArrayMaxSize(1000) @ValidateNested({ each: true }) @Type(() => EventLeadDto) eventLeads: EventLeadDto[];
}

interface KnownRequest extends Request {
  organization: number;
}

@Injectable()
class KeyGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<KnownRequest>();
    const key = request.headers['x-api-key'];
    if (typeof key !== 'string') throw new UnauthorizedException();
    const organization = organizations.get(key);
    if (organization === undefined) throw new ForbiddenException();
    const { admitted, headers } = await takeToken(key);
    http.getResponse<Response>().set(headers);
    if (!admitted) throw new HttpException('Too Many Requests', 429);
    request.organization = organization;
    return true;
  }
}

async function send(response: Response, answer: Promise<string | undefined>): Promise<void> {
  const text = await answer;
  if (text === undefined) throw new NotFoundException();
  const bytes = Buffer.from(text);
  response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': bytes.length });
  response.end(bytes);
}

const parameters = (query: PageQuery): URLSearchParams =>
  new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]));

@Controller()
class Api {
  @Get('leads')
  leads(@Req() { organization }: KnownRequest, @Res() response: Response, @Query() query: PageQuery) {
    return send(response, answers.leads(organization, parameters(query)));
  }

  @Get('leads/:id')
  lead(@Req() { organization }: KnownRequest, @Res() response: Response, @Param('id') id: string) {
    return send(response, answers.lead(organization, id));
  }

  @Post('leads')
  create(@Req() { organization }: KnownRequest, @Res() response: Response, @Body() body: CreateLeadDto) {
    return send(response, answers.create(organization, body));
  }

  @Patch('leads/:id')
  patch(
    @Req() { organization }: KnownRequest,
    @Res() response: Response,
    @Param('id') id: string,
    @Body() body: PatchLeadDto,
  ) {
    return send(response, answers.patch(organization, id, body));
  }

  @Put('events/:id/leads')
  associate(
    @Req() { organization }: KnownRequest,
    @Res() response: Response,
    @Param('id') id: string,
    @Body() body: EventLeadsDto,
  ) {
    return send(response, answers.associate(organization, id, body));
  }

  @Get('industryEvents')
  search(@Res() response: Response, @Query() query: PageQuery) {
    return send(response, answers.search(parameters(query)));
  }

  @Get('leadActivityEvents')
  activity(@Req() { organization }: KnownRequest, @Res() response: Response, @Query() query: PageQuery) {
    return send(response, answers.activity(organization, parameters(query)));
  }
}

@Module({ controllers: [Api], providers: [{ provide: APP_GUARD, useClass: KeyGuard }] })
class NestLean {}

async function start(): Promise<void> {
  const app = await NestFactory.create<NestExpressApplication>(NestLean, { logger: ['error', 'warn'] });
  app.disable('etag');
  app.disable('x-powered-by');
  app.setGlobalPrefix('api/v0');
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, transform: true }));
  await app.listen(Number(process.env.PORT), '127.0.0.1');
  process.stdout.write(`listening on ${await app.getUrl()}/api/v0\n`);
}

process.once('SIGTERM', () => process.exit(0));
void start();
