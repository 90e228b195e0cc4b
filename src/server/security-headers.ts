/**
 * Headers of every response: those of an API whose answers are read by programs and never shown as a page. Answers hold
 * personal data, so no proxy may cache them.
 */
export const SECURITY_HEADERS: readonly [name: string, value: string][] = [
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none';frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
];
