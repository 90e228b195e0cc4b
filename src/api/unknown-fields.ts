import { checkedProperties, type Class, isObject } from './field-rules';

/**
 * The paths of what an object has that its class does not declare, at any depth and in the order of the object.
 * @param sent the object as it was sent
 * @param instance what was made of it. Its class, and those of the instances in it, say which fields there are; objects
 * that are of no class may hold anything.
 */
export function* unknownPaths(sent: object, instance: unknown, prefix = ''): Generator<string> {
  const type = isObject(instance) ? ((Object.getPrototypeOf(instance) as object).constructor as Class) : Object;
  if (type === Object) return;
  const known = checkedProperties(type);
  for (const [name, value] of Object.entries(sent) as [string, unknown][]) {
    const inner = (instance as Record<string, unknown>)[name];
    if (!known.has(name)) yield prefix + name;
    else if (Array.isArray(value)) yield* unknownInList(value, inner, prefix + name);
    else if (isObject(value)) yield* unknownPaths(value, inner, `${prefix}${name}.`);
  }
}

function* unknownInList(sent: unknown[], instances: unknown, path: string): Generator<string> {
  if (!Array.isArray(instances)) return;
  for (const [index, entry] of sent.entries()) {
    if (isObject(entry)) yield* unknownPaths(entry, instances[index], `${path}[${index}].`);
  }
}

/** The first of the paths. */
export const findUnknownPath = (sent: object, instance: unknown): string | undefined =>
  unknownPaths(sent, instance).next().value as string | undefined;
