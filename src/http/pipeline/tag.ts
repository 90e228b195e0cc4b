import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';

/** A chapter of the API reference. */
export interface TagObject {
  name: string;
  description: string;
}

/** Metadata of a controller: the chapter in which its operations stand. */
export const TAG = Symbol('tag');

/** The chapter of a controller; others whose operations stand there too take its name alone, with `@ApiTags`. */
export const Tag = (name: string, description: string): ClassDecorator =>
  applyDecorators(ApiTags(name), SetMetadata<symbol, TagObject>(TAG, { name, description }));
