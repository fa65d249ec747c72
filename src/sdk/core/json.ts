/** Turns values into JSON frames, and refuses what JSON cannot express or the service would not accept. */
import { invalid } from "./error.ts";

/** How deep arrays and objects may nest in a frame. */
const MAX_FRAME_DEPTH = 40;
const MAX_FRAME_BYTES = 256 * 1024;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const encoder = new TextEncoder();
export const byteLength = (text: string): number => encoder.encode(text).length;

/**
 * The value as JSON. Throws VALIDATION_ERROR, with `name`, for a value that JSON cannot express (a function, a BigInt,
 * a cycle) or that nests too deep for a frame in which it is `levelsAbove` levels down.
 */
export function toJson(value: unknown, module: string, name = "value", levelsAbove = 0): string {
  const maxDepth = MAX_FRAME_DEPTH - levelsAbove;
  if (isTooDeep(value, maxDepth)) throw invalid(module, `${name} must nest at most ${maxDepth} levels deep`);
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {
    // `json` stays undefined, as for a function.
  }
  if (json === undefined) throw invalid(module, `${name} must be JSON`);
  return json;
}

/** A copy of a store's value as other clients will receive it. Throws VALIDATION_ERROR as {@link toJson} does. */
export const copyJson = (value: unknown): unknown => JSON.parse(toJson(value, "Stores"));

/** The message as a frame. Throws VALIDATION_ERROR if it is so large that the service would close the connection. */
export function toFrame(message: object): string {
  const frame = toJson(message, "Client");
  if (byteLength(frame) > MAX_FRAME_BYTES)
    throw invalid("Client", `message must have at most ${MAX_FRAME_BYTES} bytes`);
  return frame;
}

/** Stops at the limit, so that a cycle counts as too deep instead of recursing forever. */
const isTooDeep = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((child) => isTooDeep(child, levels - 1)));

/** Whether both values are the same as JSON. */
export const isSameJson = (a: unknown, b: unknown): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** The service checks only that it is JSON; ignoring what does not fit a type would only make the copies differ. */
export function assumeType<Type>(value: unknown): Type {
  return value as Type;
}
