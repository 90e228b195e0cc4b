import { ApiProperty } from '@nestjs/swagger';

/** The body of every error. */
export class ErrorResponse {
  @ApiProperty({ type: 'integer', description: 'The HTTP status.', example: 404 }) status: number;
  @ApiProperty({ type: 'string', example: 'Not Found' }) error: string;
}
