import { ApiSchema } from '@nestjs/swagger';
import { Text, Int32 } from './fields';

@ApiSchema({ description: 'Body of every error response.' })
export class ErrorResponse {
  @Int32({ min: 400, max: 599, description: 'HTTP status code.' })
  status: number;
  @Text({ description: 'Error message: the name of the status, or the field that is missing or invalid.' })
  error: string;
}
