/** Bytes of the head of a request; a longer one is 431. An eventUrl of 2,048 characters may take 24,576 bytes of it. */
export const MAX_HEAD_BYTES = 32_768;
