/**
 * Its modules name entities, which the suites of a shared process would take for Lanyard's own.
 * @jest-environment node
 */
import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, type DataSource } from 'typeorm';
import { OrganizationsService } from '../../src/access/organizations.service';
import { Text, Uuid } from '../../src/fields/fields';
import { feedResource, uuidKey } from '../../src/feed/changes/feed-resource';
import { type Context, CONTEXTS, datasetsOf, feedResourcesOf, schemaDefinitionOf } from '../../src/contexts';
import { json } from '../../src/data/database/rendering';
import { datasetOf } from '../../src/exchange/datasets/dataset';
import { ExportService } from '../../src/exchange/datasets/export.service';
import { openApiDocument } from '../../src/openapi/document';
import { ListedUuidRow, RefersTo } from '../../src/data/schema/columns';
import { SchemaFunctions } from '../../src/data/schema/functions';
import { ListedEntity } from '../../src/data/schema/lists';
import { WebhooksService } from '../../src/feed/webhooks/webhooks.service';
import { asOperator, createTestDatabase } from '../support/database';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';

// A context of an extension: nothing outside these declarations names its table or its resource.

@ListedEntity('halls')
@RefersTo('OrganizationEntity', 'organizationId', 'halls_organization_fkey')
class HallEntity extends ListedUuidRow {
  @Column('text') name: string;
}

const HALLS_TABLE = `
  create table halls (
    id uuid default uuid_v7() constraint halls_pkey primary key,
    organization_id integer not null,
    position bigint not null,
    created_at timestamptz(3) not null default now(),
    name text not null,
    constraint halls_organization_fkey foreign key (organization_id) references organizations (id) on delete cascade
  );
  create unique index halls_list_idx on halls (organization_id, position)`;

class HallResponse {
  @Uuid() id: string;
  @Text() name: string;
}

class HallRecord {
  @Uuid() id: string;
  @Text() name: string;
}

@Module({ imports: [TypeOrmModule.forFeature([HallEntity])] })
class HallsModule {}

const hallsContext = (number: number, name = 'halls') => ({
  module: HallsModule,
  sections: { [name]: datasetOf(HallRecord, HallEntity, { key: 'id', noun: 'hall', notExported: ['createdAt'] }) },
  feedResources: [
    feedResource(HallEntity, {
      name,
      number,
      model: HallResponse,
      recordSql: json<HallResponse>({ id: 'id', name: 'name' }),
      key: uuidKey(randomUUID()),
    }),
  ],
});

describe('a context of an extension', () => {
  const contexts: Context[] = [hallsContext(1000)];
  let lanyard: InProcess;
  let tenant: Tenant;
  let db: DataSource;
  beforeAll(async () => {
    const { url } = await createTestDatabase();
    db = await asOperator(url);
    await db.query(HALLS_TABLE);
    await new SchemaFunctions(db, schemaDefinitionOf([...CONTEXTS, ...contexts])).apply();
    lanyard = await startInProcess({ databaseUrl: url }, undefined, { contexts });
    tenant = await lanyard.tenant();
  });

  // Without a comparison with openapi.json, which does not have the extension.
  async function changesOf(query: Record<string, string>): Promise<{ changes: object[]; cursor: string }> {
    const url = `${lanyard.baseUrl}/changes?${new URLSearchParams(query).toString()}`;
    const response = await fetch(url, { headers: { 'x-api-key': tenant.key } });
    expect(response.status).toBe(200);
    return ((await response.json()) as { results: { changes: object[]; cursor: string } }).results;
  }

  it('is imported, exported, in the feed, and deleted with its organization', async () => {
    const { organizationId } = tenant;
    const { cursor } = await changesOf({ since: 'now', resources: 'halls' });
    const hall = { id: randomUUID(), name: 'North' };
    await tenant.import({ halls: [hall] });
    const created = await changesOf({ cursor });
    expect(created.changes).toEqual([
      { resource: 'halls', id: hall.id, operation: 'created', at: expect.any(String), record: hall },
    ]);
    await tenant.import({ halls: [{ ...hall, name: 'South' }] });
    const updated = await changesOf({ cursor: created.cursor });
    expect(updated.changes).toEqual([
      expect.objectContaining({ operation: 'updated', record: { id: hall.id, name: 'South' } }),
    ]);
    const snapshot = await changesOf({ resources: 'halls,leads' });
    expect(snapshot.changes).toEqual([expect.objectContaining({ resource: 'halls', operation: 'snapshot' })]);

    const exported: string[] = [];
    await lanyard.app.get(ExportService).export(organizationId, ['halls'], async (_, records) => {
      for await (const record of records) exported.push(record);
    });
    expect(exported.map((record) => JSON.parse(record) as unknown)).toEqual([{ id: hall.id, name: 'South' }]);

    await lanyard.app.get(OrganizationsService).delete(organizationId);
    expect(await db.query('select from halls')).toEqual([]);
    expect(await db.query('select from changes where organization_id = $1', [organizationId])).toEqual([]);
    tenant = await lanyard.tenant();
  });

  it('is among the resources of a new webhook, and of the API reference', async () => {
    const webhooks = lanyard.app.get(WebhooksService);
    const { resources } = await webhooks.create(tenant.organizationId, 'https://receiver.example/');
    expect(resources.at(-1)).toBe('halls');
    const document = openApiDocument(lanyard.app) as unknown as {
      paths: Record<string, { get: { parameters: { name: string; description: string }[] } }>;
      components: { schemas: Record<string, { properties: { changes: { items: { oneOf: { $ref: string }[] } } } }> };
    };
    const { schemas } = document.components;
    for (const page of ['ChangesV0Response', 'WebhookChanges']) {
      expect(schemas[page]?.properties.changes.items.oneOf.at(-1)?.$ref).toBe(
        '#/components/schemas/HallResponseChange',
      );
    }
    expect(schemas.HallResponseChange).toMatchObject({ description: 'A change of one of the halls.' });
    const parameter = document.paths['/changes']?.get.parameters.find(({ name }) => name === 'resources');
    expect(parameter?.description).toContain('`halls`');
  });

  it('makes a cursor 410 on a server without it', async () => {
    const { cursor } = await changesOf({});
    const without = await startInProcess(lanyard.config);
    await without.client(tenant.key).get('/changes', { cursor }).expect(410, { status: 410, error: 'Gone' });
    await without.client(tenant.key).get('/changes', { resources: 'halls' }).expect(400);
    await without.stop();
  });
});

describe('the contexts of a server', () => {
  it('are rejected at start when two resources of the feed have one number', async () => {
    const contexts = [hallsContext(1000), hallsContext(1000, 'rooms')];
    const { url } = await createTestDatabase();
    await expect(startInProcess({ databaseUrl: url }, undefined, { contexts })).rejects.toThrow(
      'Two resources of the feed have the same number 1000: halls and halls',
    );
  });

  it('are rejected when an extension uses a number below 1000', () => {
    expect(() => feedResourcesOf([...CONTEXTS, hallsContext(7)])).toThrow(
      'The feed resource halls of an extension has the number 7. Use 1000 or more.',
    );
  });

  it('are rejected when two resources or two sections have one name', () => {
    expect(() => feedResourcesOf([...CONTEXTS, hallsContext(1000, 'leads')])).toThrow(
      'Two resources of the feed have the same name leads: leads and halls',
    );
    expect(() => datasetsOf([...CONTEXTS, hallsContext(1000, 'leads')])).toThrow(
      'Two contexts define a section called leads',
    );
  });

  it('give import and export, and the snapshot, an order in which what is referred to comes first', () => {
    const contexts = [hallsContext(1000), ...CONTEXTS];
    expect(datasetsOf(contexts).names).toEqual([
      'users',
      'tagGroups',
      'events',
      'activations',
      'leads',
      'halls',
      'leadActivityEvents',
      'industryEvents',
    ]);
    expect(feedResourcesOf(contexts).names).toEqual([
      'tagGroups',
      'events',
      'activations',
      'leads',
      'eventLeads',
      'leadActivityEvents',
      'halls',
    ]);
  });
});
