import fc from 'fast-check';
import { jsonErrorOffset } from '../../src/http/pipeline/json-syntax';

describe('the offset of an error in JSON', () => {
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
    ['{"ä": x}', 7],
    ['\ufeff{"a": x}', 9],
  ])('%j: %d', (text, offset) => {
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    expect(jsonErrorOffset(Buffer.from(text))).toBe(offset);
  });

  it('is that of the first byte that is not UTF-8', () => {
    expect(jsonErrorOffset(Buffer.from([...Buffer.from('{"ä": "'), 0xff, ...Buffer.from('"}')]))).toBe(8);
  });

  it('is the end of valid JSON, and the place where a strange byte was put into it', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const bytes = Buffer.from(text);
        expect(jsonErrorOffset(bytes)).toBe(bytes.length);
        expect(jsonErrorOffset(Buffer.concat([bytes, Buffer.from(']')]))).toBe(bytes.length);
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
        const bytes = Buffer.byteLength(broken.slice(0, Number(position)));
        expect([broken, jsonErrorOffset(Buffer.from(broken))]).toEqual([broken, bytes]);
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
