import fc from 'fast-check';
import { jsonErrorIndex } from '../../src/exchange/datasets/json-syntax';

describe('the index of an error in JSON', () => {
  it.each([
    ['', 0],
    ['{"firstName": "Ada"', 19],
    ['{"a": x}', 6],
    ["{'a': 1}", 1],
    ['{"a": 1,}', 8],
    ['{"a" 1}', 5],
    ['[1, 2', 5],
    ['[1 2]', 3],
    ['[1,]', 3],
    ['{"a": "b', 8],
    ['{"a": "b\n"}', 8],
    ['{"a": "\\x"}', 8],
    ['["position 5", x]', 15],
    ['{"a": 01}', 7],
    ['{"a": tru}', 9],
    ['{"a": 1} x', 9],
    ['{"ä": x}', 6],
  ])('%j: %d', (text, index) => {
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    expect(jsonErrorIndex(text)).toBe(index);
  });

  it('is the end of valid JSON, and the place where a strange character was put into it', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(jsonErrorIndex(text)).toBe(text.length);
        expect(jsonErrorIndex(`${text}]`)).toBe(text.length);
      }),
    );
  });

  it('lies where JSON.parse reports one, if that says where', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.string({ maxLength: 2, unit: 'binary-ascii' }), (text, at, piece) => {
        const place = at % (text.length + 1);
        const broken = text.slice(0, place) + piece + text.slice(place);
        const reported = messageOf(broken);
        const position = / position (\d+)/.exec(reported ?? '')?.[1];
        // A message about a token quotes the text.
        if (position === undefined || reported?.startsWith('Unexpected token')) return;
        expect([broken, jsonErrorIndex(broken)]).toEqual([broken, Number(position)]);
      }),
    );
  });
});

function messageOf(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
