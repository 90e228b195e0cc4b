import { isEmail } from 'class-validator';
import fc from 'fast-check';

import { isEmailAddress } from '../src/http/text';

describe('an e-mail address', () => {
  const label = fc.stringMatching(/^[a-zA-Z\d-]{1,8}$/);
  const part = fc.oneof(label, fc.constantFrom('', ' ', '_', '+', 'é', 'ſ', 'K', 'ａ', '"', '\n', 'xn--p1ai', '1'));
  const dotted = fc.array(part, { maxLength: 4 }).map((parts) => parts.join('.'));
  const address = fc.tuple(dotted, fc.constantFrom('@', '@', '@', '', '@@'), dotted).map((parts) => parts.join(''));

  it('is what class-validator takes for one', () => {
    fc.assert(
      fc.property(fc.oneof(address, fc.emailAddress(), fc.string()), (value) => {
        expect(isEmailAddress(value)).toBe(isEmail(value));
      }),
      { numRuns: 20_000 },
    );
  });

  it.each([
    'a@b.co',
    `${'a'.repeat(64)}@b.co`,
    `${'a'.repeat(65)}@b.co`,
    `a@${'b'.repeat(64)}.co`,
    'a@b.co\n',
    'a@b-.co',
  ])('is what class-validator takes for one: %j', (value) => expect(isEmailAddress(value)).toBe(isEmail(value)));
});
