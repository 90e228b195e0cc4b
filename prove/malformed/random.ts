/** Numbers that look random and depend on the seed and the stream alone, so that any one request can be made again. */
export class Random {
  private state: number;

  constructor(seed: number, stream = 0) {
    this.state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b)) >>> 0;
    for (let round = 0; round < 4; round++) this.next();
  }

  /** 32 bits, by mulberry32 (Tommy Ettinger, public domain) */
  private next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let bits = this.state;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (bits ^ (bits >>> 14)) >>> 0;
  }

  /** an integer from 0 to `end` - 1 */
  below(end: number): number {
    return this.next() % end;
  }

  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  chance(probability: number): boolean {
    return this.next() / 2 ** 32 < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** `count` different elements, or all when there are fewer, in an order of their own */
  some<T>(list: readonly T[], count: number): T[] {
    const rest = [...list];
    return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(this.below(rest.length), 1)[0] as T);
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  text(length: number, alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'): string {
    return Array.from({ length }, () => alphabet[this.below(alphabet.length)]).join('');
  }

  uuid(): string {
    const hex = this.bytes(16).toString('hex');
    return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
  }
}
