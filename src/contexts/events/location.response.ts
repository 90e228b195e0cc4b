import { ApiSchema } from '@nestjs/swagger';
import { nullable, Text } from '../../fields/fields';

/** The defaults apply to parts that a record of a dataset omits, because a location is stored with all its parts. */
@ApiSchema({
  description: 'Location of an event or activation. All parts are strings, including latitude and longitude.',
})
export class Location {
  @Text({ ...nullable, description: 'Street and number.', example: '1 Quay Street' })
  streetAddress: string | null = null;
  @Text({ ...nullable, description: 'City or town.', example: 'Hamburg' }) city: string | null = null;
  @Text({ ...nullable, description: 'State or region.' }) state: string | null = null;
  @Text({ ...nullable, description: 'Postal code.', example: '20457' }) zip: string | null = null;
  @Text({ ...nullable, description: 'Country.', example: 'Germany' }) country: string | null = null;
  @Text({ ...nullable, description: 'Degrees north, as text.', example: '53.5623' }) latitude: string | null = null;
  @Text({ ...nullable, description: 'Degrees east, as text.', example: '9.9764' }) longitude: string | null = null;
  @Text({ ...nullable, description: 'Time zone name.', example: 'Europe/Berlin' }) timeZone: string | null = null;
}
