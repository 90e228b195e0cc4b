import { ApiSchema } from '@nestjs/swagger';
import { Text, Int32 } from './fields';

@ApiSchema({ description: 'The body of every error.' })
export class ErrorResponse {
  @Int32({ min: 400, max: 599, description: 'The HTTP status once more.' })
  status: number;
  @Text({ description: 'What is wrong: the name of the status, or which field is missing or invalid.' })
  error: string;
}
