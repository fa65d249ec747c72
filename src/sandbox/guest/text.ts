/** Values as logs and failures show them: short, on one line, and whatever the program makes of its objects. */
import {
  getPrototypeOf,
  isArray,
  join,
  keys,
  NativeError,
  push,
  slice,
  stringify,
} from "../guard/intrinsics.ts";

const MAX_DEPTH = 4;
const MAX_ITEMS = 100;
/** Of one value; what is longer is cut. */
const MAX_LENGTH = 8 * 1024;

/** The beginning of a text, marked when there is more. */
export const cut = (text: string, length: number): string =>
  text.length > length ? `${slice(text, 0, length)}…` : text;

/** A value in words; never throws, and runs what getters and `toString` the program has given it. */
export function show(value: unknown): string {
  if (typeof value === "string") return cut(value, MAX_LENGTH);
  try {
    return cut(showAt(value, 0), MAX_LENGTH);
  } catch {
    return "[unreadable]";
  }
}

function showAt(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return stringify(cut(value, MAX_LENGTH));
    case "bigint":
      return `${value}n`;
    case "symbol":
      return "[symbol]";
    case "function":
      return "[function]";
    case "object":
      return value === null ? "null" : showObject(value, depth);
    default:
      return `${value}`;
  }
}

function showObject(value: object, depth: number): string {
  if (value instanceof NativeError) return `${value.name}: ${value.message}`;
  if (depth === MAX_DEPTH) return "…";
  const parts: string[] = [];
  const names = keys(value);
  for (let index = 0; index < names.length && index < MAX_ITEMS; index += 1) {
    const name = names[index] ?? "";
    const shown = showAt((value as Record<string, unknown>)[name], depth + 1);
    push(parts, isArray(value) ? shown : `${stringify(name)}:${shown}`);
  }
  if (names.length > MAX_ITEMS) push(parts, "…");
  const text = join(parts, ",");
  if (isArray(value)) return `[${text}]`;
  const maker = (getPrototypeOf(value) as { constructor?: { name?: unknown } } | null)?.constructor?.name;
  return typeof maker === "string" && maker !== "Object" ? `${maker} {${text}}` : `{${text}}`;
}
