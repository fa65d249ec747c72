/** What other clients write and show is assumed to have the application's types. */

/** The service checks only that it is JSON; ignoring what does not fit a type would only make the copies differ. */
export function assumeType<Type>(value: unknown): Type {
  return value as Type;
}
