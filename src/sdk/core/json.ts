/** Turns values into JSON frames, and refuses values that JSON or the service does not take. */
import { invalid } from "./error.ts";

const MAX_FRAME_DEPTH = 40;
const MAX_FRAME_BYTES = 256 * 1024;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const encoder = new TextEncoder();
export const byteLength = (text: string): number => encoder.encode(text).length;

/** Throws VALIDATION_ERROR with `name` for a value that is not JSON, or too deep for a frame `levelsAbove` levels above it. */
export function toJson(value: unknown, module: string, name = "value", levelsAbove = 0): string {
  const maxDepth = MAX_FRAME_DEPTH - levelsAbove;
  if (isTooDeep(value, maxDepth)) throw invalid(module, `${name} must nest at most ${maxDepth} levels deep`);
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {}
  if (json === undefined) throw invalid(module, `${name} must be JSON`);
  return json;
}

/** Throws VALIDATION_ERROR for a message above the limit of a frame. */
export function toFrame(message: object): string {
  const frame = toJson(message, "Client");
  if (byteLength(frame) > MAX_FRAME_BYTES)
    throw invalid("Client", `message must have at most ${MAX_FRAME_BYTES} bytes`);
  return frame;
}

/** A cycle counts as too deep. */
const isTooDeep = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((child) => isTooDeep(child, levels - 1)));

export const isSameJson = (a: unknown, b: unknown): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** The service checks only for JSON: values of other clients are assumed to have the application's types. */
export function assumeType<Type>(value: unknown): Type {
  return value as Type;
}
