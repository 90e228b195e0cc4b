import { TEST_MARK, unique } from '../support/builders';
import { startLanyard, Tenant, withTenant } from '../support/lanyard';

/** What the records of this suite are, and what stands for them in the tables below. */
const RECORDS: Record<string, object> = {
  webdev: { name: `c't <webdev>` },
  crafts: { name: '<CODE/CRAFTS>' },
  prices: { description: 'prices <zzhidden> 5 & zzvis; a<zzbee and zzcee>d &zzent; zzend' },
  telecom: { keywords: ['Telecom', 'AT&T'], exhibitorIndustries: ['<Oil & Gas>', 'R&D;'] },
  carrier: { attendeePersonas: ['AT&T/Verizon <buyers>'], venueCity: '<Fürth>', venueState: '&bay;' },
  lab: { name: 'R & D Summit', venueCountry: '<Côte>' },
  qa: { name: 'QA&TEST Embedded', description: 'Only 1,000 seats at 3.5 EUR, C++ and Node.js' },
  portland: { name: 'Portland DevOps', venueState: 'Oregon' },
  conf: { name: 'DevOps Days', venueCity: 'Berlin', keywords: ['python'] },
  java: { name: 'Java Fair', venueCity: 'Berlin' },
  quotes: { name: '“Smart” Cities…Summit', description: '東京、大阪。 Robots® – drones\u00a0and «rockets» ～wave～ …' },
  london: { name: 'London, JavaScript', venueCity: 'Leeds' },
  script: {
    name: 'JavaScript for London',
    description: 'Mail ann@expo.example; see https://expo.example/a?b=zzb&c=zzc',
  },
};

describe('signs in a search', () => {
  let tenant: Tenant;
  const mark = `q${unique()}`;
  const ids = new Map<string, string>();

  beforeAll(async () => {
    [, tenant] = await withTenant(startLanyard());
    for (const [key, { keywords = [], ...record }] of Object.entries<{ keywords?: string[] }>(RECORDS)) {
      const marked = { sourceType: TEST_MARK, name: 'Expo', ...record, keywords: [mark, ...keywords] };
      const { body } = await tenant.api.post('/industryEvents', marked).expect(200);
      ids.set(body.results.industryEvent.id, key);
    }
  });

  const found = async (q: string): Promise<string[]> => {
    const { body } = await tenant.api.get('/industryEvents', { q, limit: 50 }).expect(200);
    return body.results.industryEvents.map(({ id }: { id: string }) => ids.get(id)).sort();
  };
  const has = (cases: [q: string, expected: string[]][]) =>
    it.each(cases)('%s', async (q, expected) => {
      expect(await found(`${mark} ${q.replaceAll('MARK', mark)}`)).toEqual([...expected].sort());
    });

  describe('that PostgreSQL takes for markup part words, in texts and in queries', () => {
    has([
      ['webdev', ['webdev']],
      ['<webdev>', ['webdev']],
      ['"<webdev>"', ['webdev']],
      [`c't webdev`, ['webdev']],
      [`"c't <webdev>"`, ['webdev']],
      ['CODE CRAFTS', ['crafts']],
      ['code/crafts', ['crafts']],
      ['"<code/crafts>"', ['crafts']],
      ['zzhidden', ['prices']],
      ['zzbee', ['prices']],
      ['<zzbee and zzcee>', ['prices']],
      ['zzent', ['prices']],
      ['&zzent;', ['prices']],
      ['a<zzbee', ['prices']],
      ['"prices zzhidden 5 zzvis"', ['prices']],
      ['"zzcee>d &zzent; zzend"', ['prices']],
      ['-<zzhidden> 5 zzend', []],
      ['oil gas', ['telecom']],
      ['"oil & gas"', ['telecom']],
      ['"oil gas"', ['telecom']],
      ['buyers', ['carrier']],
      ['furth', ['carrier']],
      ['&bay;', ['carrier']],
      ['cote', ['lab']],
      ['ann@expo.example', ['script']],
      ['<ann@expo.example>', ['script']],
      ['zzc', ['script']],
      ['https://expo.example/a?b=zzb&c=zzc', ['script']],
    ]);
  });

  describe('inside a word make a phrase of it', () => {
    has([
      ['AT&T', ['telecom', 'carrier']],
      ['at&t', ['telecom', 'carrier']],
      ['"AT&T"', ['telecom', 'carrier']],
      ['(AT&T)', ['telecom', 'carrier']],
      ['AT&T, Verizon', ['carrier']],
      ['"AT&T Verizon"', ['carrier']],
      ['telecom AT&T', ['telecom']],
      ['telecom -AT&T', []],
      ['"AT&T buyers"', []],
      ['R&D', ['telecom', 'lab']],
      ['r & d', ['telecom', 'lab']],
      ['"R D"', ['telecom', 'lab']],
      ['"R&D Summit"', ['lab']],
      ['"QA&TEST Embedded"', ['qa']],
      ['"QA & TEST Embedded"', ['qa']],
      ['"test embedded"', ['qa']],
      ['embedded&qa', []],
      ['qa&test', ['qa']],
    ]);
  });

  describe('make no operators', () => {
    has([
      // no word is too common to be looked for, `or` neither
      ['portland/or devops', []],
      ['portland,or devops', []],
      ['portland or, devops', []],
      ['portland (or) devops', []],
      ['portland "or" devops', []],
      ['python:or java', []],
      ['python.or MARK java', []],
      // a phrase is of one value
      ['berlin.-python', []],
      ['days.-devops', []],
      ['devops.-days', ['conf']],
      ['berlin (python)', ['conf']],
      ['berlin - python', ['conf']],
      ['berlin "-python"', ['conf']],
      ['portland or MARK java', ['portland', 'java']],
      ['portland OR MARK java', ['portland', 'java']],
      ['"portland devops" or MARK java', ['portland', 'java']],
      ['berlin -python', ['java']],
      ['berlin (-python)', ['java']],
      ['berlin --python', ['conf']],
      ['berlin -"devops days"', ['java']],
      ['berlin -("devops days")', ['java']],
      // what `-` excludes is what is found without it
      ['devops -portland/devops', ['conf']],
      ['node.js -berlin', ['qa']],
      ['node/js -berlin', ['qa']],
    ]);
  });

  describe('between words without a blank make a phrase', () => {
    has([
      ['london,javascript', ['london']],
      ['london;javascript', ['london']],
      [',london,,javascript;', ['london']],
      ['javascript,london', []],
      ['javascript,leeds', []],
      ['london, javascript', ['london', 'script']],
      ['devops|days', ['conf']],
      ['devops!days', ['conf']],
      ['devops(days)', ['conf']],
      ['london,javascript -leeds', []],
      ['"london, javascript"', ['london']],
      ['"london,javascript"', ['london']],
      ['"london;javascript"', ['london']],
      ['"javascript, london"', []],
      ['"london javascript', ['london']],
      ['javascript" london', ['london', 'script']],
      ['1,000', ['qa']],
      ['1,000 3.5', ['qa']],
      ['"1,000 seats"', ['qa']],
      ['C++ embedded', ['qa']],
      ['c++,node.js', []],
      ['c++, node.js', ['qa']],
    ]);
  });

  describe('that telephones write for quotes make a phrase', () => {
    has([
      ['“london javascript”', ['london']],
      ['“javascript london”', []],
      ['„london javascript“', ['london']],
      ['«javascript london»', []],
      ['berlin -“devops days”', ['java']],
      ['“london”“javascript”', ['london', 'script']],
      ['"“London” JavaScript"', ['london']],
    ]);
  });

  describe('that are no ASCII part words on every PostgreSQL', () => {
    has([
      ['smart', ['quotes']],
      ['“smart”', ['quotes']],
      ['"“Smart” Cities"', ['quotes']],
      ['cities summit', ['quotes']],
      ['cities…summit', ['quotes']],
      ['robots drones', ['quotes']],
      ['robots – drones', ['quotes']],
      ['drones rockets', ['quotes']],
      ['«rockets»', ['quotes']],
      ['wave', ['quotes']],
      ['～wave～', ['quotes']],
      ['大阪', ['quotes']],
      ['python–smart', []],
      ['– python', ['conf']],
    ]);
  });

  it.each(['–', '“”', ',;', '<>', '&', '<', '&;', '"<>"', '-&', '-"', '(((', '-expo', 'or -or or'])(
    'finds nothing where there are no words: %s',
    async (q) => expect(await found(q)).toEqual([]),
  );

  it('takes 512 characters of equal words and signs', async () => {
    for (const part of ['b ', 'x&y ', '- ', '-b ', '"', '"b c" ', '(', '-(', '<b> ', 'b or ']) {
      await tenant.api.get('/industryEvents', { q: part.repeat(512 / part.length) }).expect(200);
    }
  });
});
