/** Turns values into JSON frames, and refuses values that JSON or the service does not take. */
import { invalid } from "./error.ts";

const MAX_FRAME_DEPTH = 40;
const MAX_FRAME_BYTES = 256 * 1024;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const encoder = new TextEncoder();
export const byteLength = (text: string): number => encoder.encode(text).length;

/**
 * Serializes a value. Throws VALIDATION_ERROR with the name of a part that JSON cannot express, and for a value
 * too deep for a frame `levelsAbove` levels above it. Fields that are undefined are left out.
 */
export function toJson(value: unknown, module: string, name = "value", levelsAbove = 0): string {
  const maxDepth = MAX_FRAME_DEPTH - levelsAbove;
  const flaw = flawOf(value, name, maxDepth);
  if (flaw !== undefined) throw invalid(module, flaw || `${name} must nest at most ${maxDepth} levels deep`);
  const json = JSON.stringify(value);
  if (json === undefined) throw invalid(module, `${name} must be JSON`);
  return json;
}

/** Throws VALIDATION_ERROR for a message above the limit of a frame. */
export function toFrame(message: object): string {
  const frame = toJson(message, "Client", "message");
  if (byteLength(frame) > MAX_FRAME_BYTES)
    throw invalid("Client", `message must have at most ${MAX_FRAME_BYTES} bytes`);
  return frame;
}

/** Kinds of objects whose content JSON would lose. */
const NOT_JSON: readonly string[] = ["bigint", "function", "symbol", "Map", "Set", "Promise", "ArrayBuffer"];

/** The reason why a value is no JSON; an empty text for one that nests too deep, as a cycle does. */
function flawOf(given: unknown, name: string, levels: number): string | undefined {
  const value = typeof Object(given).toJSON === "function" ? Object(given).toJSON() : given;
  const type = typeof value === "object" ? Object.prototype.toString.call(value).slice(8, -1) : typeof value;
  if (NOT_JSON.includes(type)) return `${name} must be JSON, and a ${type} is not`;
  if (typeof value === "object" && value !== null) {
    if (levels === 0) return "";
    for (const [key, child] of Object.entries(value as object)) {
      const flaw = flawOf(child, `${name}.${key}`, levels - 1);
      if (flaw !== undefined) return flaw;
    }
  } else if (type === "number" && !Number.isFinite(value)) return `${name} must be JSON, and ${value} is not`;
  return undefined;
}

/** Freezes the value and everything in it. */
export function frozen<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const name in value) frozen(value[name]);
  }
  return value;
}

/** Data from the service cannot be changed in place; a copy can. */
export type Frozen<Value> = Value extends (...args: never[]) => unknown
  ? Value
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value;

/** Some of the fields; undefined ones count as left out. */
export type SomeOf<Type> = { readonly [Name in keyof Type]?: Type[Name] | undefined };

/** Removes undefined fields, so that defaults apply. */
export const defined = <Type extends object>(part: Type): Type =>
  assumeType(Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined)));

export const isSameJson = (a: unknown, b: unknown): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** The service checks only for JSON: values of other clients are assumed to have the application's types. */
export function assumeType<Type>(value: unknown): Type {
  return value as Type;
}
