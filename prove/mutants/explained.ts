/** A mutant that survives and may. */
export interface Explained {
  file: string;
  /** what is changed, white space as one blank */
  code: string;
  /** what it is changed to; left out: whatever */
  to?: string | string[];
  /** why no test can tell, or why it makes no difference to anybody */
  reason: string;
}

const ACCESS: Explained[] = [
  {
    file: 'src/access/access.service.ts',
    code: 'true',
    to: 'false',
    reason: 'only whether it is there is looked at',
  },
  {
    file: 'src/access/access.service.ts',
    code: '[...this.used.keys()].sort()',
    to: '[...this.used.keys()]',
    reason: 'the order counts when two processes write the use of the same keys in one instant',
  },
  {
    file: 'src/access/access.guard.ts',
    code: '!missing',
    to: 'true',
    reason: 'a key that is missing has not the form of one, and is refused a line later just the same',
  },
  {
    file: 'src/access/key-format.ts',
    code: '[]',
    to: '["Stryker was here"]',
    reason: 'the first element is what the expression matched as a whole, and is skipped',
  },
];

const LIMITS: Explained[] = [
  {
    file: 'src/rate-limit/token-bucket.ts',
    code: 'now <= state.time',
    to: 'now < state.time',
    reason: 'no time that has passed credits nothing either way',
  },
  {
    file: 'src/rate-limit/token-bucket.ts',
    code: 'state && state.max === max && state.rate === rate',
    to: 'false',
    reason: 'the credit of the next request follows from the newer state as from the older one',
  },
  {
    file: 'src/rate-limit/in-process-token-bucket.store.ts',
    code: 'i < SWEPT_PER_TAKE',
    to: 'i <= SWEPT_PER_TAKE',
    reason: 'three a call instead of two: how fast full buckets are forgotten changes no answer',
  },
];

const HTTP: Explained[] = [
  {
    file: 'src/http/fields.ts',
    code: "{ type: 'boolean' }",
    to: '{}',
    reason: 'the reference takes the type from the property then',
  },
  {
    file: 'src/http/fields.ts',
    code: 'args?.value',
    to: 'args.value',
    reason: 'class-validator and the reader always give it: the check is for the type',
  },
  {
    file: 'src/http/fields.ts',
    code: "typeof value === 'string'",
    to: 'true',
    reason: 'what else is no string is neither in an enumeration of strings nor equal to its own UTC',
  },
  {
    file: 'src/http/parameters.ts',
    code: "typeof value === 'string'",
    to: 'true',
    reason: 'the enumeration holds strings alone: the check is for the type',
  },
  {
    file: 'src/http/parameters.ts',
    code: '/Id$/',
    to: '/Id/',
    reason: 'no parameter has these letters elsewhere',
  },
  {
    file: 'src/http/parameters.ts',
    code: 'handler',
    to: 'true',
    reason: 'a method always has a descriptor: the check is for the type',
  },
  {
    file: 'src/http/parameters.ts',
    code: 'value.toLowerCase()',
    to: 'value.toUpperCase()',
    reason: 'PostgreSQL takes a uuid in any case, and renders it in one',
  },
  {
    file: 'src/http/parameters.ts',
    code: 'key',
    to: 'true',
    reason: 'only a parameter of a constructor has no key: the check is for the type',
  },
  {
    file: 'src/http/reader.ts',
    code: 'false',
    to: 'true',
    reason: 'asks for groups of checks, of which there are none',
  },
  {
    file: 'src/http/reader.ts',
    code: 'known',
    to: 'false',
    reason: 'what is known of a class is found out anew: slower, and the same',
  },
  {
    file: 'src/http/reader.ts',
    code: '[]',
    to: '["Stryker was here"]',
    reason: 'no check reads its constraints from there: the list is for the type',
  },
  {
    file: 'src/http/reader.ts',
    code: 'constraint.defaultMessage?.(args)',
    to: 'constraint.defaultMessage(args)',
    reason: 'every check here has a message: the question is for the type',
  },
  {
    file: 'src/http/request.ts',
    code: 'name.length === 4',
    to: 'true',
    reason: 'only slower: every name is then written in small letters',
  },
  {
    file: 'src/http/body.guard.ts',
    code: 'response.writableEnded',
    to: 'false',
    reason: 'what was refused already waits in vain for its body, and nothing is carried out then either',
  },
  {
    file: 'src/http/body.guard.ts',
    code: 'false',
    to: 'true',
    reason: 'the handler then finds that the answer was given; a write has not come that far',
  },
  {
    file: 'src/http/body.guard.ts',
    code: '!request.caller',
    to: 'false',
    reason: 'what needs no key is asked for by GET, of which no body is waited for either',
  },
  {
    file: 'src/http/body.guard.ts',
    code: '() => reject(new BadRequestException())',
    to: '() => undefined',
    reason: 'of a request that breaks off, both the error and the end are told, and one is enough',
  },
  {
    file: 'src/http/body.guard.ts',
    code: '{ throw new BadRequestException(); }',
    to: '{}',
    reason: 'the body stays undefined, which the next check refuses with the same answer',
  },
  {
    file: 'src/http/idempotency.guard.ts',
    code: "typeof key !== 'string'",
    to: 'false',
    reason: 'Node joins a header of this name that is sent twice to one string; the check is for the type',
  },
  {
    file: 'src/http/plain-json.ts',
    code: 'Array.isArray(value)',
    to: 'false',
    reason: 'only slower: the elements are walked as fields are, and an array from JSON has none of the names',
  },
  {
    file: 'src/http/plain-json.ts',
    code: 'Object.hasOwn(value, name)',
    to: 'true',
    reason: 'only slower: what is not there cannot be deleted',
  },
  {
    file: 'src/http/request.ts',
    code: "request.url.includes('%')",
    to: 'true',
    reason: 'only slower: without a percent sign every segment can be decoded',
  },
  {
    file: 'src/http/text.ts',
    code: 'value.length <= max',
    to: ['value.length < max', 'false'],
    reason: 'only slower: characters are then counted where the length would do',
  },
  {
    file: 'src/http/text.ts',
    code: 'value.length <= 2 * max',
    to: 'true',
    reason: 'only slower: characters are then counted where there are too many in any case',
  },
  {
    file: 'src/http/text.ts',
    code: 'value.length <= 64 && PLAIN_EMAIL.test(value)',
    to: 'false',
    reason: "only slower: class-validator's check, which follows, takes every such address too",
  },
  {
    file: 'src/http/text.ts',
    code: 'value.length <= 64',
    to: 'value.length < 64',
    reason: "only slower: class-validator's check follows",
  },
  {
    file: 'src/http/text.ts',
    code: '/^[a-z\\d_+-]+(?:\\.[a-z\\d_+-]+)*@(?:[a-z\\d]+(?:-+[a-z\\d]+)*\\.)+[a-z]{2,}$/i',
    to: [
      '/^[a-z\\d_+-](?:\\.[a-z\\d_+-]+)*@(?:[a-z\\d]+(?:-+[a-z\\d]+)*\\.)+[a-z]{2,}$/i',
      '/^[a-z\\d_+-]+(?:\\.[a-z\\d_+-]+)@(?:[a-z\\d]+(?:-+[a-z\\d]+)*\\.)+[a-z]{2,}$/i',
      '/^[a-z\\d_+-]+(?:\\.[a-z\\d_+-])*@(?:[a-z\\d]+(?:-+[a-z\\d]+)*\\.)+[a-z]{2,}$/i',
      '/^[a-z\\d_+-]+(?:\\.[a-z\\d_+-]+)*@(?:[a-z\\d]+(?:-+[a-z\\d]+)*\\.)[a-z]{2,}$/i',
      '/^[a-z\\d_+-]+(?:\\.[a-z\\d_+-]+)*@(?:[a-z\\d](?:-+[a-z\\d]+)*\\.)+[a-z]{2,}$/i',
      '/^[a-z\\d_+-]+(?:\\.[a-z\\d_+-]+)*@(?:[a-z\\d]+(?:-+[a-z\\d]+)\\.)+[a-z]{2,}$/i',
      '/^[a-z\\d_+-]+(?:\\.[a-z\\d_+-]+)*@(?:[a-z\\d]+(?:-[a-z\\d]+)*\\.)+[a-z]{2,}$/i',
      '/^[a-z\\d_+-]+(?:\\.[a-z\\d_+-]+)*@(?:[a-z\\d]+(?:-+[a-z\\d])*\\.)+[a-z]{2,}$/i',
    ],
    reason: "only slower: an address that the stricter pattern refuses goes to class-validator's check, which takes it",
  },
  {
    file: 'src/http/text.ts',
    code: '[]',
    to: '["Stryker was here"]',
    reason: 'the first element is what the expression matched as a whole, and is skipped',
  },
];

const DATABASE: Explained[] = [
  {
    file: 'src/database/statements.ts',
    code: '[]',
    to: '["Stryker was here"]',
    reason: 'a row that is not there has no total, whatever stands in its first place',
  },
  {
    file: 'src/database/statements.ts',
    code: 'made?.listing === listing',
    to: 'false',
    reason: 'only slower: the text of the statement is made anew each time',
  },
  {
    file: 'src/database/statements.ts',
    code: 'this.known.get(question) ?? null',
    to: 'this.known.get(question) && null',
    reason: 'only slower: the database counts again what it was not told',
  },
  {
    file: 'src/database/statements.ts',
    code: 'question && known',
    to: ['true', 'false', 'question || known'],
    reason:
      'without both, nothing is remembered: setting undefined deletes, and what is not remembered is counted again',
  },
  {
    file: 'src/database/idempotent-answers.ts',
    code: 'claim?.answer',
    to: 'claim.answer',
    reason: 'the statement always has a row: the check is for the type',
  },
  {
    file: 'src/database/idempotent-answers.ts',
    code: 'claim?.free',
    to: 'claim.free',
    reason: 'the statement always has a row: the check is for the type',
  },
  {
    file: 'src/database/turns.ts',
    code: 'false',
    to: 'true',
    reason: 'one connection came free and was given away: asked once more, nobody is found who may hold another',
  },
  {
    file: 'src/database/turns.ts',
    code: 'held > 0',
    to: ['true', 'held >= 0'],
    reason: 'an organization that holds none is kept with the number 0, which counts like being absent',
  },
  {
    file: 'src/database/turns.ts',
    code: '!first',
    to: 'false',
    reason: 'a queue that is empty is taken away, so that there is a first: the check is for the type',
  },
  {
    file: 'src/database/turns.ts',
    code: 'queue.length === 0',
    to: 'false',
    reason: 'the empty queue is then taken away by who looks for the next in turn',
  },
  {
    file: 'src/database/writes.ts',
    code: 'LONG + ANSWER',
    to: 'LONG - ANSWER',
    reason: 'who gives up after 50 seconds, PostgreSQL or this process, makes no difference to who waits so long',
  },
  {
    file: 'src/database/writes.ts',
    code: '{ client.end().catch(() => undefined); }',
    to: '{}',
    reason: 'the process ends a moment later, and its connections with it',
  },
  {
    file: 'src/database/writes.ts',
    code: 'sqlState(error) !== QUERY_CANCELED',
    to: 'false',
    reason: 'only slower: a long write comes to the same end (cost.spec.ts counts the statements)',
  },
  {
    file: 'src/database/writes.ts',
    code: '!writer.once',
    to: 'false',
    reason: 'only slower: a transaction around one statement changes nothing (cost.spec.ts counts the statements)',
  },
  {
    file: 'src/industry-events/industry-events.service.ts',
    code: '{ id: true, startDate: true, endDate: true }',
    to: '{}',
    reason: 'only slower: all columns are read instead of three',
  },
  {
    file: 'src/industry-events/industry-events.service.ts',
    code: '!stored',
    to: 'false',
    reason: 'the update touches no row then, and the record that is asked for last is not found: 404 as well',
  },
  {
    file: 'src/database/writes.ts',
    code: 'writer.once',
    to: 'true',
    reason: 'only slower: leads are created one by one instead of together (cost.spec.ts counts the statements)',
  },
  {
    file: 'src/leads/leads.service.ts',
    code: 'Object.keys(input).length === 0',
    to: 'false',
    reason: 'only slower: an empty patch is then an update that changes nothing',
  },
];

export const EXPLAINED: Explained[] = [...ACCESS, ...LIMITS, ...HTTP, ...DATABASE];
