/** Numbers that follow from a seed, so that a run can be repeated; a stream is a sequence of its own of that seed. */
export class Random {
  private state: number;

  constructor(seed: number, stream = 0) {
    this.state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(stream + 1, 0x85ebca6b)) >>> 0;
    for (let round = 0; round < 4; round++) this.next();
  }

  /** From 0 to below 1, by mulberry32 (Tommy Ettinger, public domain). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let bits = this.state;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from 0 to `end` - 1. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** An integer from `first` to `last`. */
  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  /** A value, as often as its weight says. */
  weighted<T>(values: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.next() * values.reduce((sum, [weight]) => sum + weight, 0);
    return (values.find(([weight]) => (left -= weight) < 0) ?? values[0])?.[1] as T;
  }

  /** That many of the values in random order, or all of them. */
  some<T>(values: readonly T[], count = values.length): T[] {
    const rest = [...values];
    return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(this.below(rest.length), 1)[0] as T);
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  text(length: number): string {
    return Array.from({ length }, () => this.pick([...'abcdefghijklmnopqrstuvwxyz0123456789'])).join('');
  }

  uuid(): string {
    const hex = this.bytes(16).toString('hex');
    return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
  }
}
