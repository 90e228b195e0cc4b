/** JSON text that is sent as it is, in parts: of a list, each record is one. */
export class JsonPayload {
  constructor(readonly parts: readonly string[]) {}

  get text(): string {
    return this.parts.join('');
  }
}
