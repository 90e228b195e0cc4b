/** The scopes of API keys that the tools know. A later server may have others. */
export type Scope = 'all' | 'read' | 'capture';

const HEADER = 'lanyard-key-scope';

/** A header of every successful response of the API, which a proxy or a login page in its place does not send. */
const HEADER_OF_API = 'x-ratelimit-limit';

const SENTENCES: Partial<Record<string, string>> = {
  read: 'This key may only read.',
  capture:
    'This key may only capture leads: see events and activations, create leads, add leads to events, and read and change leads that it created itself in the last 24 hours.',
};

/** What the API key may do, as far as responses have shown it. */
export class KeyScope {
  /** Undefined until a response has shown it. */
  private scope: string | undefined;

  /** Called when the scope becomes known, because other tools are available from then on. */
  onChange: () => void = () => undefined;

  get isKnown(): boolean {
    return this.scope !== undefined;
  }

  get isCapture(): boolean {
    return this.scope === 'capture';
  }

  /** The scope, for the instructions. */
  get name(): string {
    return this.scope ?? 'unknown';
  }

  /** Whether requests of a tool that needs one of these scopes can succeed. */
  includes(scopes: readonly Scope[]): boolean {
    return scopes.some((scope) => scope === this.scope);
  }

  /** Learns the scope from a response: a header names it, and a success without the header means everything. */
  observe({ ok, headers }: Response): void {
    const scope = headers.get(HEADER) ?? (ok && headers.has(HEADER_OF_API) ? 'all' : undefined);
    if (scope === undefined || scope === this.scope) return;
    this.scope = scope;
    this.onChange();
  }

  /** One sentence for a request that the scope does not allow. */
  get sentence(): string {
    return (
      SENTENCES[this.scope ?? ''] ?? `The scope of this key${this.scope ? `, ${this.scope},` : ''} does not allow this.`
    );
  }
}
