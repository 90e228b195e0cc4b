import { getMetadataStorage, type ValidationError } from 'class-validator';

/**
 * The message of an error that its validator was given, as in `@MaxLength(20, { message: 'The name is too long' })`.
 * @param error with its target
 * @returns undefined where the message is class-validator's own
 */
export function messageOf({ target, property, constraints = {}, children }: ValidationError): string | undefined {
  const [nested] = children ?? [];
  if (Object.keys(constraints).length === 0) return nested && messageOf(nested);
  const type = target?.constructor;
  if (!type) return undefined;
  const validators = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  for (const { propertyName, message, name, type: kind } of validators) {
    if (propertyName === property && message !== undefined && constraints[name ?? kind])
      return constraints[name ?? kind];
  }
  return undefined;
}
