import { TEST_MARK, unique } from '../support/builders';
import { startLanyard, Tenant, withTenant } from '../support/lanyard';

describe('search', () => {
  let tenant: Tenant;
  /** a word that stands in every record of this suite and in no other */
  const mark = `q${unique()}`;

  beforeAll(async () => {
    [, tenant] = await withTenant(startLanyard());
    const records = [
      { name: `Wrocław Ruby ${mark}`, description: 'Two days.' },
      { name: `${mark} Summit`, keywords: ['ruby'], venueCity: 'Łódź' },
      { name: `${mark} Fair`, description: 'All about ruby and running crêpes.' },
      { name: `${mark} Expo`, venueState: 'Bavaria', venueCountry: 'Germany' },
      { name: `${mark} Days`, exhibitorIndustries: ['Hydraulics'], attendeePersonas: ['Plant Engineers'] },
      { name: `${mark} wroc_love.rb`, description: 'Node.js too' },
      { name: `${mark} Конференция`, venueCity: '東京' },
      {
        name: `${mark} ReactConf-2026`,
        description: 'Topics: AI/ML, cloud, e-commerce.Register now: +49 30',
        venueCity: 'Kiel',
      },
      { name: `${mark} Week 2027`, keywords: ['solar panels', 'wind'], venueState: 'Ohio', description: 'Turbines' },
    ];
    for (const record of records)
      await tenant.api.post('/industryEvents', { sourceType: TEST_MARK, ...record }).expect(200);
  });

  const names = async (q: string): Promise<string[]> => {
    const { body } = await tenant.api.get('/industryEvents', { q: `${mark} ${q.replace('MARK', mark)}` }).expect(200);
    expect(body.results.total).toBe(body.results.industryEvents.length);
    return body.results.industryEvents.map(({ name }: { name: string }) => name.replace(mark, '').trim());
  };

  it.each([
    [
      '',
      ['Wrocław Ruby', 'Summit', 'Fair', 'Expo', 'Days', 'wroc_love.rb', 'Конференция', 'ReactConf-2026', 'Week 2027'],
    ],
    ['wroclaw', ['Wrocław Ruby']],
    ['WROCŁAW rubies', ['Wrocław Ruby']],
    ['lodz', ['Summit']],
    ['Łódź', ['Summit']],
    ['bavaria', ['Expo']],
    ['germany', ['Expo']],
    ['hydraulic', ['Days']],
    ['engineer plant', ['Days']],
    ['crepe', ['Fair']],
    ['run', ['Fair']],
    ['wroc_love.rb', ['wroc_love.rb']],
    ['love', ['wroc_love.rb']],
    ['node.js', ['wroc_love.rb']],
    ['конференция', ['Конференция']],
    ['東京', ['Конференция']],
    ['ruby germany', []],
    ['"plant engineers"', ['Days']],
    ['"engineers plant"', []],
    // `or` binds less than the words beside it, so the mark stands on both sides
    ['bavaria or MARK lodz', ['Summit', 'Expo']],
    ['ruby -lodz', ['Wrocław Ruby', 'Fair']],
    ['2026', ['ReactConf-2026']],
    ['reactconf-2026', ['ReactConf-2026']],
    ['reactconf 2026', ['ReactConf-2026']],
    ['"reactconf 2026"', ['ReactConf-2026']],
    ['week-2027', ['Week 2027']],
    ['ML', ['ReactConf-2026']],
    ['ai/ml', ['ReactConf-2026']],
    ['"AI ML"', ['ReactConf-2026']],
    ['ML.AI', []],
    ['AI.ML', ['ReactConf-2026']],
    ['register commerce', ['ReactConf-2026']],
    ['49', ['ReactConf-2026']],
    ['cloud -reactconf-2026', []],
    ['turbine -reactconf-2026', ['Week 2027']],
    ['node', ['wroc_love.rb']],
    // a phrase is of one value
    ['"solar panels"', ['Week 2027']],
    ['"panels wind"', []],
    ['"panels of wind"', []],
    ['"panels of the wind"', []],
    ['"2027 ohio"', []],
    ['"wind turbines"', []],
    ['"2026 reactconf"', []],
    // no word is too common to be found
    ['the ruby', []],
    ['and ruby', ['Fair']],
    ['"ruby and running"', ['Fair']],
  ])('%s', async (q, expected) => {
    const found = await names(q);
    expect([...found].sort()).toEqual([...expected].sort());
  });

  describe('finds a word beyond ASCII however it is spelled', () => {
    const nfd = (text: string): string => text.normalize('NFD');
    it.each([
      ['Δρόμος', ['ΔΡΟΜΟΣ', 'δρομος', 'δρόμοσ', nfd('Δρόμος')]],
      ['ΑΓΟΡΆΣ', ['αγοράς', 'ΑΓΟΡΑΣ']],
      ['Київ', [nfd('Київ'), 'КИЇВ']],
      [nfd('Йогафест'), ['Йогафест', 'йогафест']],
      ['ガジェット展', [nfd('ガジェット展')]],
      [nfd('서울모터쇼'), ['서울모터쇼']],
      [nfd('Café'), ['café', 'CAFE', nfd('Cafés')]],
      ['مُؤْتَمَر أبوظبي', ['مؤتمر', 'ابوظبي', '"مؤتمر ابوظبي"']],
      ['שָׁלוֹם', ['שלום']],
    ])('%s', async (name, queries) => {
      const own = `q${unique()}`;
      const record = { sourceType: TEST_MARK, name: `${own} ${name}`, keywords: [`${name}.example`] };
      await tenant.api.post('/industryEvents', record).expect(200);
      for (const q of [name, ...queries]) {
        const { body } = await tenant.api.get('/industryEvents', { q: `${own} ${q}` }).expect(200);
        expect([q, body.results.total]).toEqual([q, 1]);
        const withAnother = await tenant.api.get('/industryEvents', { q: `${own} ${q} example` }).expect(200);
        expect([q, withAnother.body.results.total]).toEqual([q, 1]);
      }
    });
  });

  it('ranks the name above venue and keywords, and these above the description', async () => {
    expect(await names('ruby')).toEqual(['Wrocław Ruby', 'Summit', 'Fair']);
  });

  it('pages through what it found, in the same order', async () => {
    const whole = await tenant.api.get('/industryEvents', { q: mark }).expect(200);
    const paged = await tenant.api.all('/industryEvents', 'industryEvents', { q: mark, limit: 2 });
    expect(paged).toEqual(whole.body.results.industryEvents);
  });

  it('follows a change of the record', async () => {
    const [word, changed] = [unique(), unique()];
    const { body } = await tenant.api
      .post('/industryEvents', { sourceType: TEST_MARK, name: `Expo ${word}` })
      .expect(200);
    const { id } = body.results.industryEvent;
    await tenant.api.put(`/industryEvents/${id}`, { name: `Expo ${changed}` }).expect(200);
    expect((await tenant.api.get('/industryEvents', { q: word })).body.results.total).toBe(0);
    expect((await tenant.api.get('/industryEvents', { q: changed })).body.results.total).toBe(1);
  });

  it.each(['', ' ', '\t'])('takes a blank q (%j) as none', async (q) => {
    const { body } = await tenant.api.get('/industryEvents', { q, limit: 1 }).expect(200);
    expect(body.results.total).toBeGreaterThanOrEqual(7);
  });

  it.each([
    "'",
    '"',
    '&|!():*<->',
    '-',
    '--',
    'or',
    'or or',
    '"" -""',
    '\\',
    ':*',
    'x'.repeat(512),
    '"'.repeat(500),
    '-'.repeat(33),
    '- ('.repeat(170),
    `a/b${'-.'.repeat(250)}x`,
    Array.from({ length: 32 }, (_, n) => `w${n}`).join(' '),
    'expo '.repeat(100),
    `${'-'.repeat(20)}"${'-'.repeat(20)}`,
    '🙂',
    '<b>',
  ])('answers %s', async (q) => {
    await tenant.api.get('/industryEvents', { q }).expect(200);
  });

  it.each([
    [40, true],
    [41, false],
  ])('takes each of %i dashes for a "not"', async (dashes, isFound) => {
    expect((await names(`${'-'.repeat(dashes)}solar`)).includes('Week 2027')).toBe(isFound);
  });

  it.each([
    ['characters', 'x'.repeat(513)],
    ['words', Array.from({ length: 33 }, (_, n) => `w${n}`).join(' ')],
    [
      'words in phrases',
      `"${Array.from({ length: 17 }, (_, n) => `a${n}`).join(' ')}" ${Array.from({ length: 16 }, (_, n) => `b${n}`).join('-')}`,
    ],
  ])('refuses too many %s', async (_, q) => {
    await tenant.api.get('/industryEvents', { q }).expect(400, { status: 400, error: 'Bad Request' });
  });

  it('refuses NUL and a q given twice', async () => {
    await tenant.api.get('/industryEvents?q=%00').expect(400, { status: 400, error: 'Bad Request' });
    await tenant.api.get('/industryEvents?q=a&q=b').expect(400, { status: 400, error: 'Bad Request' });
  });
});
