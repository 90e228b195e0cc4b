import { checkedProperties, type Class, isObject } from './field-rules';

/**
 * The paths of what an object has that its class does not declare, at any depth and in the order of the object.
 * @param sent the object as it was sent
 * @param instance what was made of it. Its class, and those of the instances in it, say which fields there are; objects
 * that are of no class may hold anything.
 * @param prefix of the paths of this object, which are added to `found`
 */
export function unknownPaths(sent: object, instance: unknown, prefix = '', found: string[] = []): string[] {
  const type = isObject(instance) ? ((Object.getPrototypeOf(instance) as object).constructor as Class) : Object;
  if (type === Object) return found;
  const known = checkedProperties(type);
  for (const name of Object.keys(sent)) {
    const value = (sent as Record<string, unknown>)[name];
    if (!known.has(name)) found.push(prefix + name);
    else if (typeof value === 'object' && value !== null)
      findUnknownInside(value, (instance as Record<string, unknown>)[name], prefix + name, found);
  }
  return found;
}

/** The first of the paths. */
export const findUnknownPath = (sent: object, instance: unknown): string | undefined => unknownPaths(sent, instance)[0];

function findUnknownInside(sent: object, instance: unknown, path: string, found: string[]): void {
  if (!Array.isArray(sent)) unknownPaths(sent, instance, `${path}.`, found);
  else if (Array.isArray(instance)) {
    for (const [index, entry] of sent.entries()) {
      if (isObject(entry)) unknownPaths(entry, instance[index], `${path}[${index}].`, found);
    }
  }
}
