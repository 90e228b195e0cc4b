import { Text } from './fields';

/** A place, of an event or an activation. Every part is text, latitude and longitude too. */
export class Location {
  @Text({ nullable: true }) streetAddress: string | null;
  @Text({ nullable: true }) city: string | null;
  @Text({ nullable: true }) state: string | null;
  @Text({ nullable: true }) zip: string | null;
  @Text({ nullable: true }) country: string | null;
  @Text({ nullable: true, description: 'Text, not a number.', example: '52.3702' }) latitude: string | null;
  @Text({ nullable: true, description: 'Text, not a number.', example: '4.8952' }) longitude: string | null;
  @Text({ nullable: true, example: 'Europe/Amsterdam' }) timeZone: string | null;
}
