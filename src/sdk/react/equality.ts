/** When a selected value counts as unchanged. */

/** Whether two selected values are the same for the component that selects them. */
export type Equality<Value> = (a: Value, b: Value) => boolean;

/**
 * Whether both values are identical, or arrays or plain objects with identical elements. The default of all hooks that
 * select, so that a selector can return a new array or object each time. Pass `Object.is` for identity alone.
 */
export function shallowEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((element, index) => Object.is(element, b[index]));
  if (!isPlain(a) || !isPlain(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && Object.is(a[key], b[key]))
  );
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
