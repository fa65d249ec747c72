/** Formats values and failures: short, and safe with objects that a program has tampered with. */
import {
  exec,
  getPrototypeOf,
  isArray,
  join,
  keys,
  NativeError,
  push,
  slice,
  split,
  stringify,
} from "./intrinsics.ts";

const MAX_DEPTH = 4;
const MAX_ITEMS = 100;
/** The length of one value in characters; longer text is cut. */
const MAX_LENGTH = 8 * 1024;

export const cut = (text: string, length: number): string =>
  text.length > length ? `${slice(text, 0, length)}…` : text;

/** Describes a value. Never throws, although it calls the getters and `toString` that the program gave the value. */
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

const MAX_NAME_LENGTH = 64;
const MAX_MESSAGE_LENGTH = 2 * 1024;
const MAX_FRAMES = 10;
const MAX_TRACE_LENGTH = 8 * 1024;
/** A position in the program, as V8 writes it. The inserted checks move columns, but lines stay. */
const FRAME = /^\s*at (?:async )?(?:(.*?) \()?[^()]*?workflow\.js:(\d+):\d+\)?$/;

interface Frame {
  readonly name: string;
  readonly line: string;
}

/** Describes what was thrown, followed by the customer's stack frames, one per line. */
export function describeFailure(thrown: unknown): string {
  try {
    if (!(thrown instanceof NativeError))
      return `The workflow threw ${cut(show(thrown), MAX_MESSAGE_LENGTH)}`;
    const frames = framesOf(`${thrown.stack}`);
    const name = cut(`${thrown.name}`, MAX_NAME_LENGTH);
    const message = cut(`${thrown.message}`, MAX_MESSAGE_LENGTH);
    const first = frames[0];
    const place = first === undefined ? "" : ` (line ${first.line})`;
    let trace = "";
    for (let index = 0; index < frames.length; index += 1) {
      const frame = frames[index];
      if (frame !== undefined) trace += `\n    at ${frame.name} (line ${frame.line})`;
    }
    return `${name}${message === "" ? "" : `: ${message}`}${place}${trace}`;
  } catch {
    return "The workflow threw something that cannot be read";
  }
}

function framesOf(stack: string): readonly Frame[] {
  const frames: Frame[] = [];
  // The frames follow the message, however long it is.
  const lines = split(slice(stack, -MAX_TRACE_LENGTH), "\n");
  for (let index = 0; index < lines.length && frames.length < MAX_FRAMES; index += 1) {
    const found = exec(FRAME, lines[index] ?? "");
    const line = found?.[2];
    if (line !== undefined) push(frames, { name: cut(found?.[1] ?? "the workflow", MAX_NAME_LENGTH), line });
  }
  return frames;
}
