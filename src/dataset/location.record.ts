import { optionalNullable, Text } from '../api-schema/fields';

/** A place is stored with all its parts, in the order of the specification. */
export class LocationRecord {
  @Text(optionalNullable) streetAddress: string | null = null;
  @Text(optionalNullable) city: string | null = null;
  @Text(optionalNullable) state: string | null = null;
  @Text(optionalNullable) zip: string | null = null;
  @Text(optionalNullable) country: string | null = null;
  @Text(optionalNullable) latitude: string | null = null;
  @Text(optionalNullable) longitude: string | null = null;
  @Text(optionalNullable) timeZone: string | null = null;
}
