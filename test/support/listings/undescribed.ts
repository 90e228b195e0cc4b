import type { INestApplication } from '@nestjs/common';
import { openApiDocument } from '../../../src/openapi/document';

interface Operation {
  tags?: string[];
  summary?: string;
  requestBody?: { content: Record<string, { schema: { $ref?: string } }> };
  responses: Record<string, { content?: object } | undefined>;
}

/** A line for each handler of the API whose description lacks something, with what it lacks. */
export function findUndescribed(app: INestApplication): string[] {
  const { paths, tags = [], components } = openApiDocument(app);
  const chapters = tags.map(({ name }) => name);
  const schemas = (components?.schemas ?? {}) as Record<string, { properties?: object }>;
  const lacksOf = ({ tags: own = [], summary, requestBody, responses }: Operation): string[] => {
    const body =
      Object.values(requestBody?.content ?? {})[0]
        ?.schema.$ref?.split('/')
        .pop() ?? '';
    return [
      ...(own.some((tag) => chapters.includes(tag)) ? [] : ['@Tag of its controller']),
      ...(summary ? [] : ['@ApiOperation']),
      ...(responses['200']?.content ? [] : ['@Returns…']),
      ...(Object.keys(schemas[body]?.properties ?? { none: body }).length > 0
        ? []
        : [`@ApiProperty, or a field of fields/fields.ts, in ${body}`]),
    ];
  };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations as Record<string, Operation>).flatMap(([method, operation]) => {
      const lacks = lacksOf(operation);
      return lacks.length > 0 ? [`${method.toUpperCase()} ${path} lacks ${lacks.join(', ')}`] : [];
    }),
  );
}
