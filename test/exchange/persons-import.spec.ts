import { randomUUID } from 'node:crypto';
import { ImportService } from '../../src/exchange/datasets/import.service';
import { Datasets } from '../../src/exchange/datasets/dataset';
import type { ImportSource } from '../../src/exchange/datasets/import-plan';
import { objectRecords, wholeRecords } from '../../src/exchange/datasets/read-json';
import { PersonsService } from '../../src/exchange/persons/persons.service';
import { startInProcess } from '../support/lanyard';
import { operatorServices } from '../support/operator-services';

describe('an erasure beside an import', () => {
  it('waits for an import that is still reading its file, says so, and erases whom it brings', async () => {
    const lanyard = await startInProcess();
    const tenant = await lanyard.tenant();
    const { organizationId } = tenant;
    const services = await operatorServices(lanyard.config.databaseUrl ?? '');
    const id = randomUUID();
    const address = 'brought@example.com';
    let isReading: () => void = () => undefined;
    const reading = new Promise<void>((resolve) => (isReading = resolve));
    let goOn: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => (goOn = resolve));
    const datasets = services.get(Datasets);
    const records = { leads: [{ id, email: address }] };
    const whole = wholeRecords(datasets, (issues) => objectRecords(records, datasets, issues));
    const source: ImportSource = {
      plan: (context) => whole.plan(context),
      read: async function* (plan, context) {
        isReading();
        await waiting;
        yield* whole.read(plan, context);
      },
    };
    const imported = services.get(ImportService).importRecords(organizationId, source);
    await reading;
    const waits: number[] = [];
    const erased = await services
      .get(PersonsService)
      .erase([{ organizationId, emails: [address], phones: [], leads: [] }], {
        alsoAsUser: false,
        onWait: (organization) => {
          waits.push(organization);
          goOn();
        },
        confirm: () => Promise.resolve(true),
      });
    await imported;
    expect(waits).toEqual([organizationId]);
    expect(erased).toMatchObject({ erased: true, leads: 1, records: [{ id }] });
    await tenant.api.get(`/leads/${id}`).expect(404);
    await lanyard.stop();
  });
});
