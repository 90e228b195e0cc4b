import { searchQuery } from '../../src/industry-events/search-query';

describe('what a q asks for', () => {
  it.each([
    ['expo', '"expo"'],
    ['solar  expo', '"solar" "expo"'],
    ['"solar expo"', '"solar expo"'],
    ['"solar expo', '"solar expo"'],
    ['“solar expo”', '"solar expo"'],
    ['"“Solar” expo"', '"Solar expo"'],
    ['node.js', '"node js"'],
    ['trade-show', '"trade show"'],
    ['AT&T', '"AT T"'],
    ['<b>', '"b"'],
    ['«word» ～wort～', '"word" "wort"'],
    ['solar -wind', '"solar" -"wind"'],
    ['solar -"wind park"', '"solar" -"wind park"'],
    ['solar (-wind)', '"solar" -"wind"'],
    ['solar --wind', '"solar" "wind"'],
    ['solar - wind', '"solar" "wind"'],
    ['solar or wind', '"solar" or "wind"'],
    ['solar OR wind park', '"solar" or "wind" "park"'],
    ['or solar or or wind or', '"solar" or "wind"'],
    ['solar "or" wind', '"solar" "or" "wind"'],
    ['solar or, wind', '"solar" "or" "wind"'],
    ['expo Expo EXPO', '"EXPO"'],
    ['expo or expo', '"expo"'],
    ['Café cafe\u0301', '"cafe\u0301"'],
    // what only excludes finds nothing
    ['-wind', ''],
    ['solar or -wind', '"solar"'],
    ['-wind -solar or expo', '"expo"'],
    // and so do signs
    ['', ''],
    ['- & "" ()', ''],
    ['🙂', ''],
  ])('%s', (q, text) => expect(searchQuery(q)).toEqual({ text, isTooLong: false }));

  const words = (count: number, of = 'w'): string[] => Array.from({ length: count }, (_, n) => `${of}${n}`);
  it.each<[string, string, boolean]>([
    ['32 words', words(32).join(' '), false],
    ['33 words', words(33).join(' '), true],
    ['a phrase of 32 words', `"${words(32).join(' ')}"`, false],
    ['a phrase of 33 words', `"${words(33).join(' ')}"`, true],
    ['33 words that signs join', words(33).join('/'), true],
    ['17 words in a phrase, and 16 others', `"${words(17).join(' ')}" ${words(16, 'v').join(' ')}`, true],
    ['33 words of two alternatives', `${words(17).join(' ')} or ${words(16, 'v').join(' ')}`, true],
    [
      '33 words that are excluded',
      words(33)
        .map((word) => `-${word}`)
        .join(' '),
      true,
    ],
    ['equal words', 'expo '.repeat(100), false],
    ['equal phrases', '"trade show" '.repeat(30), false],
    ['words of one that excludes, and one that does not', `${words(16).join(' ')} or -${words(16).join(' -')}`, false],
    ['512 characters', 'x'.repeat(512), false],
    ['512 characters that are two units each', '𝐱'.repeat(512), false],
    ['513 characters', 'x'.repeat(513), true],
    ['513 signs', '-'.repeat(513), true],
  ])('may be %s: %#', (_, q, isTooLong) => expect(searchQuery(q).isTooLong).toBe(isTooLong));
});
