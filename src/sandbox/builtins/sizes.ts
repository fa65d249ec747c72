/** Measures the work of a call of a built-in, and limits the work of one call. */
import { allocate, work } from "../guard/guard.ts";
import {
  apply,
  byteLengthOf,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isArray,
  isView,
  max,
  NativeArrayBuffer,
  NativeBlob,
  NativeRangeError,
  NativeTypeError,
  toNumber,
} from "../guard/intrinsics.ts";

/** The largest length of one call: items of an array, characters of a string, bytes of a view. */
export const MAX_ITEMS = 2 ** 23;
/** How many items take as long as one tick. */
const ITEMS_PER_TICK = 16;

const { iterator } = Symbol;

export const tooLong = () => new NativeRangeError("The array or text is too long for a workflow");

/**
 * How many items a native would walk. A length must be a plain number: a computed one could differ
 * when the native asks. (Proxies compute theirs, but each step over a proxy ticks.)
 */
export function lengthOf(list: unknown): number {
  if (typeof list === "string" || isArray(list)) return list.length;
  if (typeof list !== "object" || list === null) return 0;
  if (isView(list)) return byteLengthOf(list);
  for (let holder: object | null = list; holder !== null; holder = getPrototypeOf(holder)) {
    const descriptor = getOwnPropertyDescriptor(holder, "length");
    if (descriptor === undefined) continue;
    const { value } = descriptor;
    if (typeof value === "number") return max(0, value);
    throw new NativeTypeError("The length of an array-like object must be a number");
  }
  return 0;
}

/** Refuses work that is too large, and counts the rest. */
export function walk(list: unknown): number {
  const length = lengthOf(list);
  if (length > MAX_ITEMS) throw tooLong();
  work(length / ITEMS_PER_TICK);
  return length;
}

/** The strings among the arguments. */
export function walkTexts(args: readonly unknown[]): void {
  for (let index = 0; index < args.length; index += 1) {
    if (typeof args[index] === "string") walk(args[index]);
  }
}

/** The length of an array's source. An iterable ticks elsewhere; anything else has a length. */
export function allocateForSource(source: unknown): void {
  if (typeof source === "object" && source !== null && !(iterator in source)) allocate(8 * walk(source));
}

/** A number as the native receives it: an object is converted once. */
export function numberAt(args: unknown[], index: number): number {
  if (args[index] === undefined) return 0;
  const value = toNumber(args[index]);
  args[index] = value;
  return value;
}

const sizeOfBlob = getOwnPropertyDescriptor(NativeBlob.prototype, "size")?.get;
const sizeOfBuffer = getOwnPropertyDescriptor(NativeArrayBuffer.prototype, "byteLength")?.get;

/** Bytes of buffers, views and blobs. */
export function sizeOf(data: unknown): number {
  if (typeof data !== "object" || data === null) return 0;
  if (isView(data)) return byteLengthOf(data);
  if (data instanceof NativeArrayBuffer && sizeOfBuffer) return apply(sizeOfBuffer, data, []) as number;
  return data instanceof NativeBlob && sizeOfBlob ? (apply(sizeOfBlob, data, []) as number) : 0;
}

/** The counted part of arguments: strings and bytes, which the platform copies. */
export function allocateFor(args: readonly unknown[]): void {
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index];
    if (typeof argument === "string") allocate(2 * walk(argument));
    else allocate(sizeOf(argument));
  }
}
