/** The rule of undo and redo: a change is taken back only where its result is still what is visible. */
import { isRecord, isSameJson } from "../../core/json.ts";
import type { Difference, Operation } from "./entries.ts";

/** Without what an object inherits, because a field can have any name. */
const fieldOf = (record: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined;

const pick = (record: Record<string, unknown>, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, record[name]]));

/** The top-level fields in which two objects differ, whatever their order. */
const differingFields = (a: Record<string, unknown>, b: Record<string, unknown>): string[] =>
  Object.keys({ ...a, ...b }).filter((name) => !isSameJson(fieldOf(a, name), fieldOf(b, name)));

const isSame = (a: unknown, b: unknown): boolean =>
  isRecord(a) && isRecord(b) ? differingFields(a, b).length === 0 : isSameJson(a, b);

/**
 * The write that takes a change back while the visible value is `current`; null if others have changed all of it
 * since. Between objects, each top-level field is a change of its own.
 */
export function planRestore({ key, previous, value }: Difference, current: unknown): Operation | null {
  if (isRecord(previous) && isRecord(value) && isRecord(current)) {
    const lost = differingFields(current, value);
    const names = differingFields(previous, value).filter((name) => !lost.includes(name));
    return restoreFields(key, names, previous, current);
  }
  if (!isSame(current, value)) return null;
  return previous === undefined
    ? { action: "delete", key, value: null }
    : { action: "set", key, value: previous };
}

/** Fields can be restored by merging them, but a field that was not there can only be removed with the whole value. */
function restoreFields(
  key: string,
  names: readonly string[],
  previous: Record<string, unknown>,
  current: Record<string, unknown>,
): Operation | null {
  if (names.length === 0) return null;
  const kept = names.filter((name) => Object.hasOwn(previous, name));
  const fields = pick(previous, kept);
  if (kept.length === names.length) return { action: "update", key, value: fields };
  const others = Object.keys(current).filter((name) => !names.includes(name));
  return { action: "set", key, value: { ...pick(current, others), ...fields } };
}
