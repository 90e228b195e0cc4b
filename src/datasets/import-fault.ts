/** A dataset that cannot be imported. The message is one line that names the place, and quotes nothing of the data. */
export class ImportFault extends Error {}
