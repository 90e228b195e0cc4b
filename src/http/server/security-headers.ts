/**
 * Headers of every response. Responses are read by programs and never rendered as a page, and they hold personal data, so no
 * proxy may cache them.
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
