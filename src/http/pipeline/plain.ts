import { SetMetadata } from '@nestjs/common';

/** Metadata of a handler or a controller whose responses are Nest's own. */
export const PLAIN = Symbol('plain');

/**
 * A handler or a controller whose responses are sent as Nest sends them: without the envelope, with 201 for a POST. Key,
 * tokens, bodies and errors are those of every route. It cannot be called with an Idempotency-Key.
 *
 * @example
 * ```ts
 * @Plain()
 * @Get('halls.geojson')
 * geoJson() {
 *   return { type: 'FeatureCollection', features: [] };
 * }
 * ```
 */
export const Plain = (): ClassDecorator & MethodDecorator => SetMetadata(PLAIN, true);
