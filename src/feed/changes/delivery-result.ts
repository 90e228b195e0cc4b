/** How an attempt to deliver a page ended: with a response, or with the error for which there is none. */
export type DeliveryResult = DeliveryResponse | { error: string };
type DeliveryResponse = { status: number; retryAfter?: string };

export const isAcknowledged = (result: DeliveryResult): result is DeliveryResponse =>
  'status' in result && result.status >= 200 && result.status < 300;
