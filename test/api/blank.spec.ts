import { leadInput } from '../support/builders';
import { type InProcess, startInProcess } from '../support/lanyard';

describe('a text that must not be blank', () => {
  let lanyard: InProcess;
  beforeAll(async () => void (lanyard = await startInProcess()));

  it.each([
    ['white space', ' \t\u00a0'],
    ['zero-width spaces', '\u200b\u200b'],
    ['a byte order mark', '\ufeff'],
    ['a variation selector', '\ufe0f'],
    ['a Hangul filler', '\u3164'],
    ['a blank of Braille', '\u2800'],
  ])('is one of more than %s', async (_, firstName) => {
    const { api } = await lanyard.tenant();
    const { headers, body } = await api.post('/leads', { ...leadInput(), firstName });
    expect(body).toMatchObject({ status: 400 });
    expect(headers).toMatchObject({ 'lanyard-fault': 'body firstName', 'lanyard-fault-reason': 'missing' });
    const match = { matchBy: 'none', leads: [{ ...leadInput(), firstName }] };
    expect((await api.post('/leads/batch', match)).body).toMatchObject({ status: 400 });
    const visible = { ...leadInput(), firstName: `${firstName}李` };
    expect((await api.post('/leads', visible)).body).toMatchObject({
      status: 200,
      results: { firstName: visible.firstName },
    });
  });
});
