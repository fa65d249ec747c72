/** Formats values and failures: short, and safe with objects that a program has tampered with. */
import {
  addressOf,
  eachOfMap,
  eachOfSet,
  exec,
  getPrototypeOf,
  isArray,
  isFiniteNumber,
  isView,
  join,
  keys,
  NativeAggregateError,
  NativeDate,
  NativeError,
  NativeMap,
  NativeNumber,
  NativeRegExp,
  NativeSet,
  NativeURL,
  patternOf,
  push,
  readFloat,
  readInteger,
  readTime,
  slice,
  split,
  stringify,
  toISOString,
} from "./intrinsics.ts";

const MAX_DEPTH = 4;
const MAX_ITEMS = 100;
/** The length of one value in characters; longer text is cut. */
const MAX_LENGTH = 8 * 1024;

export const cut = (text: string, length: number): string =>
  text.length > length ? `${slice(text, 0, length)}…` : text;

/** Describes a value. Never throws, although it calls the getters and `toString` that the program gave the value. */
function show(value: unknown): string {
  if (typeof value === "string") return cut(value, MAX_LENGTH);
  try {
    return cut(showAt(value, 0), MAX_LENGTH);
  } catch {
    return "[unreadable]";
  }
}

/**
 * Formats values like `console.log`: `%s` and its kin in a first text take the values that follow it. Never
 * throws.
 */
export function format(values: readonly unknown[]): string {
  const parts: string[] = [];
  let next = 0;
  if (typeof values[0] === "string" && values.length > 1) {
    const template = cut(values[0], MAX_LENGTH);
    next = 1;
    let text = "";
    let from = 0;
    for (let at = 0; at < template.length && text.length < MAX_LENGTH; at += 1) {
      if (template[at] !== "%") continue;
      const isEscaped = template[at + 1] === "%";
      const shown = isEscaped ? "%" : next < values.length ? showAs(template[at + 1], values[next]) : null;
      if (shown === null) continue;
      if (!isEscaped) next += 1;
      text += slice(template, from, at) + shown;
      at += 1;
      from = at + 1;
    }
    push(parts, text + slice(template, from));
  }
  for (; next < values.length; next += 1) push(parts, show(values[next]));
  return join(parts, " ");
}

/** The value in the form that the letter after `%` asks for; null for one that asks for none. */
function showAs(letter: string | undefined, value: unknown): string | null {
  try {
    switch (letter) {
      case "s":
        return show(value);
      case "d":
        return showNumber(value, NativeNumber);
      case "i":
        return showNumber(value, readInteger);
      case "f":
        return showNumber(value, readFloat);
      case "j":
        return cut(`${stringify(value)}`, MAX_LENGTH);
      case "o":
      case "O":
        return cut(showAt(value, 0), MAX_LENGTH);
      case "c":
        return "";
      default:
        return null;
    }
  } catch {
    return "[unreadable]";
  }
}

function showNumber(value: unknown, read: (text: string) => number): string {
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "symbol" ? "NaN" : `${read(value as string)}`;
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
  if (depth === MAX_DEPTH) return "…";
  if (value instanceof NativeError) {
    const { cause } = value;
    const because = cause === undefined ? "" : ` [cause: ${showAt(cause, depth + 1)}]`;
    const errors =
      value instanceof NativeAggregateError ? ` [errors: ${showAt(value.errors, depth + 1)}]` : "";
    return `${value.name}: ${value.message}${because}${errors}`;
  }
  if (value instanceof NativeDate)
    return isFiniteNumber(readTime(value)) ? toISOString(value) : "Invalid Date";
  if (value instanceof NativeRegExp) return patternOf(value);
  if (value instanceof NativeURL) return addressOf(value);
  if (value instanceof NativeMap) return showEntries("Map", (add) => eachOfMap(value, add), depth);
  if (value instanceof NativeSet)
    return showEntries("Set", (add) => eachOfSet(value, (item) => add(item)), depth);
  const parts: string[] = [];
  // The names of millions of bytes would take longer than a run may.
  const names = isArray(value) || isView(value) ? null : keys(value);
  const count = names === null ? (value as ArrayLike<unknown>).length : names.length;
  let shownCount = 0;
  for (let length = 0; shownCount < count && shownCount < MAX_ITEMS && length < MAX_LENGTH; shownCount += 1) {
    const name = names === null ? `${shownCount}` : (names[shownCount] ?? "");
    const shown = showAt((value as Record<string, unknown>)[name], depth + 1);
    length += shown.length;
    push(parts, isArray(value) ? shown : `${stringify(name)}:${shown}`);
  }
  if (shownCount < count) push(parts, "…");
  const text = join(parts, ",");
  if (isArray(value)) return `[${text}]`;
  const maker = (getPrototypeOf(value) as { constructor?: { name?: unknown } } | null)?.constructor?.name;
  return typeof maker === "string" && maker !== "Object" ? `${maker} {${text}}` : `{${text}}`;
}

/** The entries of a map, or the items of a set, which have no keys. */
function showEntries(
  kind: string,
  each: (add: (value: unknown, ...key: readonly unknown[]) => void) => void,
  depth: number,
): string {
  const parts: string[] = [];
  each((value, ...key) => {
    if (parts.length > MAX_ITEMS) return;
    const shownKey = key.length === 0 ? "" : `${showAt(key[0], depth + 1)} => `;
    push(parts, parts.length === MAX_ITEMS ? "…" : shownKey + showAt(value, depth + 1));
  });
  return `${kind} {${join(parts, ",")}}`;
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

/** Number of errors in one failure: causes and united errors. */
const MAX_ERRORS = 10;
/** Length of the whole failure in characters. */
const MAX_FAILURE_LENGTH = 8 * 1024;

/**
 * Describes a thrown value, followed by the customer's stack frames, one per line, and by its causes and united
 * errors, each further to the right. Never throws.
 */
export function describeFailure(thrown: unknown): string {
  try {
    if (!(thrown instanceof NativeError))
      return `The workflow threw ${cut(show(thrown), MAX_MESSAGE_LENGTH)}`;
    return cut(describeError(thrown, "", []), MAX_FAILURE_LENGTH);
  } catch {
    return "The workflow threw something that cannot be read";
  }
}

/** `known` are the errors described so far: a circle of causes ends, and so does a chain that grows as it is read. */
function describeError(error: Error, indent: string, known: Error[]): string {
  push(known, error);
  const frames = framesOf(`${error.stack}`);
  const name = cut(`${error.name}`, MAX_NAME_LENGTH);
  const message = cut(`${error.message}`, MAX_MESSAGE_LENGTH);
  const first = frames[0];
  let text = `${name}${message === "" ? "" : `: ${message}`}${first === undefined ? "" : ` (line ${first.line})`}`;
  for (let index = 0; index < frames.length; index += 1) {
    const frame = frames[index];
    if (frame !== undefined) text += `\n${indent}    at ${frame.name} (line ${frame.line})`;
  }
  text += describeBehind("cause", () => error.cause, indent, known);
  if (!(error instanceof NativeAggregateError)) return text;
  const { errors } = error;
  for (let index = 0; index < errors.length; index += 1) {
    if (index === MAX_ERRORS || known.length >= MAX_ERRORS) return `${text}\n${indent}  …`;
    text += describeBehind(`errors[${index}]`, () => errors[index], indent, known);
  }
  return text;
}

/** The value behind an error, on a line of its own; nothing for undefined. */
function describeBehind(label: string, read: () => unknown, indent: string, known: Error[]): string {
  const start = `\n${indent}  ${label}: `;
  try {
    const value = read();
    if (value === undefined) return "";
    if (!(value instanceof NativeError)) return start + cut(show(value), MAX_MESSAGE_LENGTH);
    for (let index = 0; index < known.length; index += 1)
      if (known[index] === value) return `${start}[circular]`;
    return start + (known.length < MAX_ERRORS ? describeError(value, `${indent}  `, known) : "…");
  } catch {
    return `${start}[unreadable]`;
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
