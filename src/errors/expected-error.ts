/** An error that the operator can expect: its message is one line that says what is wrong and what to do. */
export class ExpectedError extends Error {}
