/** A dataset that cannot be imported. The message is one line that names the place, and quotes nothing of the data. */
export class ImportFault extends Error {
  /** @param position of the record in its section */
  constructor(
    message: string,
    readonly position = 0,
  ) {
    super(message);
  }
}
