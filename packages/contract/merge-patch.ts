/** Merge patches (RFC 7396). Pure, and without a schema: the SDK loads it. */

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** The value with a merge patch: null removes a field, and undefined leaves it as it is. */
export function patched(value: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const fields = new Map(Object.entries(isRecord(value) ? value : {}));
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) fields.delete(name);
    else if (change !== undefined) fields.set(name, patched(fields.get(name), change));
  }
  return Object.fromEntries(fields);
}
