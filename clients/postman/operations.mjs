/**
 * The operations of an OpenAPI document that have a described response. A route of a module that describes none has no
 * request in the collection: nothing says what it should be compared with.
 */
export function operationsOf(description) {
  const resolve = (node) => resolveIn(description, node);
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })),
  );
  return operations.flatMap((operation) => {
    const answer = operation.responses?.[200]?.content?.['application/json']?.schema;
    if (!answer) return [];
    const content = operation.requestBody?.content['application/json'];
    if (content && !content.example) throw new Error(`${operation.operationId}: its body needs an example`);
    return { ...operation, answer, body: content?.example, parameters: (operation.parameters ?? []).map(resolve) };
  });
}

/** What a reference of the document leads to; anything else as it is. */
export function resolveIn(description, node) {
  if (!node.$ref) return node;
  const path = node.$ref.slice(2).split('/');
  return path.reduce((at, key) => at[key], description);
}
