/** JSON text to send as it is, in parts; each record of a list is one part. */
export class JsonPayload {
  constructor(readonly parts: readonly string[]) {}

  get text(): string {
    return this.parts.join('');
  }
}
