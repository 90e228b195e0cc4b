import { createExhibitor, leadInput, phone } from '../support/builders';
import { schemaErrors } from '../support/description';
import { Lanyard, startLanyard, Tenant, withTenant } from '../support/lanyard';

const INTEGRATIONS = ['WEBHOOK', 'MARKETO', 'HUB_SPOT', 'ZOHO', 'SALES_FORCE', 'PIPE_DRIVE', 'ELOQUA', 'PARDOT'];
const UUID = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const PHONE_TYPES = ['MOBILE', 'LANDLINE', 'DIRECT', 'OFFICE', 'HQ', 'UNKNOWN'];

describe('leads', () => {
  let lanyard: Lanyard;
  let mine: Tenant;
  beforeAll(async () => void ([lanyard, mine] = await withTenant(startLanyard())));

  const create = async (over: object = {}) => (await mine.api.post('/leads', leadInput(over)).expect(200)).body.results;
  const get = async (id: string) => (await mine.api.get(`/leads/${id}`).expect(200)).body.results;
  const nothing = { name: null, industry: null, linkedin: null, streetAddress: null, city: null, state: null };

  describe('POST /leads', () => {
    it.each(['ä@example.com', 'ada@exämple.com', '"a b"@example.com', '"a@b"@example.com', "o'neil+x@a.example.com"])(
      'takes the address %s, as it is described',
      async (email) => {
        const input = leadInput({ email, createdByEmail: email });
        expect(schemaErrors('#/components/schemas/LeadCreateV0Input', input)).toEqual([]);
        expect((await create(input)).email).toBe(email);
      },
    );

    it('creates a lead', async () => {
      const input = { email: 'ada@example.com', phoneNumbers: [phone(), phone({ type: 'HQ', preferred: false })] };
      const lead = await create(input);
      expect(lead).toMatchObject({
        id: expect.any(String),
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        isEnriched: false,
        firstName: 'Ada',
        lastName: 'Rowe',
        email: 'ada@example.com',
        description: null,
        linkedin: null,
        facebook: null,
        twitter: null,
        jobTitle: null,
        address: null,
        phoneNumbers: { leadProvided: input.phoneNumbers, serviceProvided: [] },
        company: { ...nothing, name: 'Cobalt Systems', zip: null, country: null },
        numberOfScans: 0,
        lastScannedBy: null,
        activations: [],
        tags: [],
        leadActivityEvents: [],
        remoteIds: [],
        personalEmails: null,
        professionalEmails: null,
      });
      expect(await get(lead.id)).toEqual(lead);
      expect(await get(lead.id.toUpperCase())).toEqual(lead);
    });

    it.each(PHONE_TYPES)('takes the phone number type %s', async (type) => {
      const { phoneNumbers } = await create({ phoneNumbers: [phone({ type })] });
      expect(phoneNumbers.leadProvided).toEqual([phone({ type })]);
    });

    it('ignores fields that it does not know', async () => {
      const lead = await create({
        id: 'x',
        jobTitle: 'Buyer',
        isEnriched: true,
        tags: [1],
        phoneNumbers: [phone({ x: 1 })],
      });
      expect(lead).toMatchObject({ jobTitle: null, isEnriched: false, tags: [] });
      expect(lead.phoneNumbers.leadProvided).toEqual([phone()]);
    });

    it.each<[string, unknown, string]>([
      ...['createdByEmail', 'firstName', 'lastName', 'companyName'].flatMap((field) =>
        [undefined, null, 5, '  ', 'a\u0000b', 'x'.repeat(256)].map((v): [string, unknown, string] => [
          field,
          v,
          field,
        ]),
      ),
      ['email', 'nobody', 'email'],
      ['email', null, 'email'],
      ['email', `${'a'.repeat(250)}@example.com`, 'email'],
      ['phoneNumbers', null, 'phoneNumbers'],
      ['phoneNumbers', {}, 'phoneNumbers'],
      ['phoneNumbers', Array(51).fill(phone()), 'phoneNumbers'],
      ['phoneNumbers', [[]], 'phoneNumbers[0]'],
      ['phoneNumbers', [phone(), null], 'phoneNumbers[1]'],
      ['phoneNumbers', [{}], 'phoneNumbers[0].number'],
      ['phoneNumbers', [phone({ number: '' })], 'phoneNumbers[0].number'],
      ['phoneNumbers', [phone({ number: '1'.repeat(256) })], 'phoneNumbers[0].number'],
      ['phoneNumbers', [phone(), phone({ type: 'FAX' })], 'phoneNumbers[1].type'],
      ['phoneNumbers', [phone({ type: undefined })], 'phoneNumbers[0].type'],
      ['phoneNumbers', [phone({ preferred: 'yes' })], 'phoneNumbers[0].preferred'],
      ['phoneNumbers', [phone({ preferred: undefined })], 'phoneNumbers[0].preferred'],
    ])('refuses %s when it is %j', async (field, value, path) => {
      const { body } = await mine.api.post('/leads', leadInput({ [field]: value })).expect(400);
      expect(body).toEqual({ status: 400, error: `Missing or invalid '${path}'` });
    });

    it('names the first field at fault in the order of the specification', async () => {
      const { body } = await mine.api.post('/leads', { phoneNumbers: 5, email: 5, companyName: 5, lastName: 5 });
      expect(body.error).toBe("Missing or invalid 'createdByEmail'");
    });

    it('takes 255 characters, however many bytes they are, and 50 phone numbers', async () => {
      const name = '𝒜'.repeat(255);
      const lead = await create({ firstName: name, phoneNumbers: Array(50).fill(phone()) });
      expect(lead.firstName).toBe(name);
      expect(lead.phoneNumbers.leadProvided).toHaveLength(50);
    });
  });

  describe('PATCH /leads/:leadId', () => {
    const patch = (id: string, body: object) => mine.api.patch(`/leads/${id}`, body);
    const texts = ['firstName', 'lastName', 'address', 'linkedin', 'facebook', 'twitter', 'description', 'jobTitle'];

    it('leaves what is omitted and clears what is null', async () => {
      const lead = await create({ email: 'a@example.com', phoneNumbers: [phone()] });
      expect((await patch(lead.id, {}).expect(200)).body.results).toEqual(lead);
      const changed = await patch(lead.id, { jobTitle: 'Buyer', email: null, firstName: null }).expect(200);
      expect(changed.body.results).toEqual({ ...lead, jobTitle: 'Buyer', email: null, firstName: null });
      expect(await get(lead.id)).toEqual(changed.body.results);
    });

    it.each(texts)('sets and clears %s', async (field) => {
      const lead = await create();
      expect((await patch(lead.id, { [field]: ' é😀 ' })).body.results).toEqual({ ...lead, [field]: ' é😀 ' });
      expect((await patch(lead.id, { [field]: null })).body.results).toEqual({ ...lead, [field]: null });
    });

    it('stores the profile picture and does not show it', async () => {
      const lead = await create();
      const { body } = await patch(lead.id, { profilePicture: 'https://example.com/a.png' }).expect(200);
      expect(body.results).toEqual(lead);
    });

    it('replaces phone numbers that users entered, as a whole', async () => {
      const { dataset, lead } = createExhibitor();
      const tenant = await lanyard.tenant();
      await tenant.import(dataset);
      const numbers = async (phoneNumbers: unknown) =>
        (await tenant.api.patch(`/leads/${lead.id}`, { phoneNumbers }).expect(200)).body.results.phoneNumbers;
      const { serviceProvided } = lead.phoneNumbers;
      const two = [phone({ number: '2' }), phone({ number: '1', type: 'OFFICE' })];
      expect(await numbers(two)).toEqual({ leadProvided: two, serviceProvided });
      expect(await numbers(undefined)).toEqual({ leadProvided: two, serviceProvided });
      expect(await numbers([phone()])).toEqual({ leadProvided: [phone()], serviceProvided });
      expect(await numbers([])).toEqual({ leadProvided: [], serviceProvided });
      expect(await numbers([phone()])).toEqual({ leadProvided: [phone()], serviceProvided });
      expect(await numbers(null)).toEqual({ leadProvided: [], serviceProvided });
    });

    it.each(INTEGRATIONS)('sets, changes and clears the remote id of %s alone', async (integrationType) => {
      const lead = await create();
      const another = { id: 'kept', integrationType: INTEGRATIONS.find((type) => type !== integrationType) };
      const ids = async (id: string | null) =>
        (await patch(lead.id, { remoteId: { id, integrationType } }).expect(200)).body.results.remoteIds;
      await patch(lead.id, { remoteId: another }).expect(200);
      expect(await ids('1')).toEqual([another, { id: '1', integrationType }]);
      expect(await ids('2')).toEqual([another, { id: '2', integrationType }]);
      expect((await patch(lead.id, { jobTitle: 'x' })).body.results.remoteIds).toHaveLength(2);
      expect(await ids(null)).toEqual([another]);
      expect(await ids(null)).toEqual([another]);
    });

    it.each<[string, unknown, string]>([
      ['email', 'nobody', 'email'],
      ...texts.flatMap((field) => [5, 'a\u0000'].map((v): [string, unknown, string] => [field, v, field])),
      ['firstName', 'x'.repeat(256), 'firstName'],
      ['linkedin', 'x'.repeat(2049), 'linkedin'],
      ['description', 'x'.repeat(65_536), 'description'],
      ['phoneNumbers', 'x', 'phoneNumbers'],
      ['phoneNumbers', [phone({ type: 'x' })], 'phoneNumbers[0].type'],
      ['remoteId', null, 'remoteId'],
      ['remoteId', [], 'remoteId'],
      ['remoteId', 'x', 'remoteId'],
      ['remoteId', {}, 'remoteId.id'],
      ['remoteId', { integrationType: 'ZOHO' }, 'remoteId.id'],
      ['remoteId', { id: '', integrationType: 'ZOHO' }, 'remoteId.id'],
      ['remoteId', { id: 5, integrationType: 'ZOHO' }, 'remoteId.id'],
      ['remoteId', { id: '5' }, 'remoteId.integrationType'],
      ['remoteId', { id: null, integrationType: 'OTHER' }, 'remoteId.integrationType'],
    ])('refuses %s when it is %j, and changes nothing', async (field, value, path) => {
      const lead = await create();
      const { body } = await patch(lead.id, { jobTitle: 'changed', [field]: value }).expect(400);
      expect(body).toEqual({ status: 400, error: `Missing or invalid '${path}'` });
      expect(await get(lead.id)).toEqual(lead);
    });

    it.each([
      ['description', 65_535],
      ['address', 65_535],
      ['linkedin', 2048],
      ['twitter', 2048],
      ['jobTitle', 255],
    ])('takes %s of %i characters', async (field, length) => {
      const { body } = await patch((await create()).id, { [field]: 'ü'.repeat(length) }).expect(200);
      expect(body.results[field]).toHaveLength(length);
    });
  });

  describe('GET and DELETE /leads/:leadId', () => {
    it('shows everything that an import brought', async () => {
      const { dataset, tagGroup, lead, activity } = createExhibitor();
      const [first, second] = [activity({ createdAt: '2026-05-04T12:00:00.000Z' }), activity()];
      const tenant = await lanyard.tenant();
      await tenant.import({ ...dataset, leadActivityEvents: [first, second] });
      const { events: _, ...shown } = lead;
      const expected = {
        ...shown,
        tags: tagGroup.tagOptions.map(({ id, value }) => ({ tagOptionId: id, value })),
        leadActivityEvents: [first.id, second.id],
      };
      expect((await tenant.api.get(`/leads/${lead.id}`).expect(200)).body.results).toMatchObject(expected);
      expect((await tenant.api.get('/leads')).body.results.leads).toMatchObject([expected]);
    });

    it('deletes a lead with its activity events', async () => {
      const { dataset, lead, note } = createExhibitor();
      const tenant = await lanyard.tenant();
      const { expo } = await tenant.import(dataset);
      expect((await tenant.api.delete(`/leads/${lead.id}`).expect(200)).body).toEqual({ status: 200, results: {} });
      await tenant.api.get(`/leads/${lead.id}`).expect(404);
      await tenant.api.delete(`/leads/${lead.id}`).expect(404);
      await tenant.api.get(`/leadActivityEvents/${note.id}`).expect(404);
      expect((await tenant.api.get(`/events/${expo}/leads`)).body.results.total).toBe(0);
    });

    it.each(['1', 'x', `${UUID}0`, `{${UUID}}`, UUID.replaceAll('-', ''), '%00', '%zz'])(
      'is 400 for the id %s',
      async (id) => {
        await mine.api.get(`/leads/${id}`).expect(400, { status: 400, error: 'Bad Request' });
        await mine.api.delete(`/leads/${id}`).expect(400);
        await mine.api.patch(`/leads/${id}`, {}).expect(400);
      },
    );
  });
});
