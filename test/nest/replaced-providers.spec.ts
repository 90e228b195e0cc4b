import { Controller, Get, Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { type Caller, CurrentCaller } from '../../src/http/pipeline/caller';
import { ConfigError, Config } from '../../src/config';
import { createApp } from '../../src/app';
import { defineExtension, type Extension } from '../../src/extensions/extension';
import type { LeadCreateV0Input } from '../../src/contexts/leads/lead.dto';
import { LeadsModule } from '../../src/contexts/leads/leads.module';
import { LeadsService } from '../../src/contexts/leads/leads.service';
import { createLog } from '../../src/observability/log';
import { leadInput } from '../support/builders';
import { createTestDatabase } from '../support/database';
import { startInProcess, withTenant } from '../support/lanyard';

const MAIL_SENDER = 'mail sender';

interface MailSender {
  send(to: string): string;
}

@Module({
  providers: [{ provide: MAIL_SENDER, useValue: { send: (to: string) => `sent to ${to}` } }],
  exports: [MAIL_SENDER],
})
class MailModule {}

/** As a module of a package, which gives its providers by a method. */
@Module({})
class IdsModule {
  static register() {
    return { module: IdsModule, providers: [{ provide: 'ids', useFactory: () => () => 'random' }], exports: ['ids'] };
  }
}

@Controller('parts')
class PartsController {
  constructor(
    private readonly leads: LeadsService,
    @Inject(MAIL_SENDER) private readonly mails: MailSender,
    @Inject('ids') private readonly nextId: () => string,
  ) {}

  @Get()
  async find(@CurrentCaller() caller: Caller) {
    const lead = JSON.parse(await this.leads.create(caller, leadInput({ lastName: 'Byron' }))) as { lastName: string };
    return { lead: lead.lastName, mail: this.mails.send('ada@example.com'), id: this.nextId() };
  }
}

@Module({ imports: [LeadsModule, MailModule, IdsModule.register()], controllers: [PartsController] })
class PartsModule {}

@Injectable()
class CapitalLeads extends LeadsService implements OnModuleInit {
  isReady = false;

  onModuleInit(): void {
    this.isReady = true;
  }

  override create(caller: Caller, input: LeadCreateV0Input) {
    return super.create(caller, { ...input, lastName: this.isReady ? input.lastName.toUpperCase() : '' });
  }
}

@Injectable()
class LocalSender {
  send = (to: string): string => `written for ${to}`;
}

const extension = defineExtension({
  modules: [PartsModule],
  providers: [
    { provide: LeadsService, useClass: CapitalLeads },
    { provide: MAIL_SENDER, useClass: LocalSender },
    { provide: 'ids', useFactory: () => () => '7' },
  ],
});

const silent = createLog('silent', { write: () => undefined });

describe('a provider of an extension', () => {
  it("takes a module's place for Lanyard's controllers and for other modules", async () => {
    const [lanyard, { key }] = await withTenant(startInProcess({}, silent, extension));
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const body = JSON.stringify(leadInput({ lastName: 'Lovelace' }));
    const created = await fetch(`${lanyard.baseUrl}/leads`, { method: 'POST', headers, body });
    expect(await created.json()).toMatchObject({ results: { lastName: 'LOVELACE' } });
    const parts = await fetch(`${lanyard.baseUrl}/parts`, { headers });
    expect(await parts.json()).toMatchObject({
      results: { lead: 'BYRON', mail: 'written for ada@example.com', id: '7' },
    });
  });

  it('has no effect on a server without the extension', async () => {
    const [, { api }] = await withTenant(startInProcess());
    const { body } = await api.post('/leads', leadInput({ lastName: 'Lovelace' })).expect(200);
    expect(body).toMatchObject({ results: { lastName: 'Lovelace' } });
  });

  it.each<[string, Extension['providers']]>([
    ['Unprovided', [{ provide: class Unprovided {}, useValue: {} }]],
    ['no such token', [{ provide: 'no such token', useFactory: () => 1 }]],
    ['LeadsService', [{ provide: LeadsService, useExisting: CapitalLeads } as never]],
  ])('is an error at start where it replaces nothing: %s', async (name, providers) => {
    const { url, drop } = await createTestDatabase();
    const start = createApp(new Config({ databaseUrl: url, logLevel: 'silent' }), silent, { providers });
    await expect(start).rejects.toThrow(ConfigError);
    await expect(start).rejects.toThrow(`The provider of ${name} in defineExtension() has no effect`);
    await drop();
  });
});
