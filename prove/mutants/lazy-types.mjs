// Swagger takes the function of a property `type` for a lazy type by its name, which it loses between Stryker's changes.
const isLazyType = (path) =>
  path.isArrowFunctionExpression() && path.parentPath?.isObjectProperty() && path.parentPath.node.key.name === 'type';

const lazyTypes = { shouldIgnore: (path) => (isLazyType(path) ? 'a lazy type' : undefined) };

export const strykerPlugins = [{ kind: 'Ignore', name: 'lazy-types', value: lazyTypes }];
