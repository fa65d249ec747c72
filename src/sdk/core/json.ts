/** Values on their way to the wire: what JSON cannot say, or the service would not take, is refused here. */
import { invalid } from "./error.ts";

/** Arrays and objects stand at most this deep in each other in a frame, and a frame has at most so many bytes. */
const MAX_FRAME_DEPTH = 40;
const MAX_FRAME_BYTES = 256 * 1024;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const encoder = new TextEncoder();
export const byteLength = (text: string): number => encoder.encode(text).length;

/** The value as JSON. VALIDATION_ERROR for what has none, such as a function, a BigInt or a cycle. */
export function toJson(value: unknown, module: string): string {
  if (isTooDeep(value, MAX_FRAME_DEPTH))
    throw invalid(module, `What is sent nests ${MAX_FRAME_DEPTH} levels deep at most`);
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {
    // Below: what throws has no JSON either.
  }
  if (json === undefined) throw invalid(module, "What is sent must be JSON");
  return json;
}

/** The value as the others will see it: a copy by way of JSON. VALIDATION_ERROR as for {@link toJson}. */
export const copyJson = (value: unknown, module: string): unknown => JSON.parse(toJson(value, module));

/** A frame. VALIDATION_ERROR for one that the service would cut the connection for. */
export function toFrame(message: object, module: string): string {
  const frame = toJson(message, module);
  if (byteLength(frame) > MAX_FRAME_BYTES)
    throw invalid(module, `What is sent at once has at most ${MAX_FRAME_BYTES} bytes`);
  return frame;
}

/** Goes no deeper than it must, so that a cycle is too deep rather than endless. */
const isTooDeep = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((child) => isTooDeep(child, levels - 1)));

/** The same JSON text, which is what the others would see of either. */
export const isSameJson = (a: unknown, b: unknown): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);
