/**
 * Maximum size in bytes of a request's head; a longer one is rejected with 431. An eventUrl of 2,048 characters may take up
 * 24,576 of them.
 */
export const MAX_HEAD_BYTES = 32_768;
