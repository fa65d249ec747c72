/** Measures the work that built-ins are given, and limits how much they may be given at once. */
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

/** Items of an array, characters of a text, bytes of a view. */
export const MAX_ITEMS = 2 ** 23;
/** What is walked in the time of a tick. */
const ITEMS_PER_TICK = 16;

const { iterator } = Symbol;

export const tooLong = () => new NativeRangeError("The array or text is too long for a workflow");

/**
 * How many items a native would walk. A length must be a plain number: one that is computed could be another one
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
    throw new NativeTypeError("The length of what is like an array must be a number");
  }
  return 0;
}

/** Refuses what is too long, and counts what is not. */
export function walk(list: unknown): number {
  const length = lengthOf(list);
  if (length > MAX_ITEMS) throw tooLong();
  work(length / ITEMS_PER_TICK);
  return length;
}

/** The texts among arguments. */
export function walkTexts(args: readonly unknown[]): void {
  for (let index = 0; index < args.length; index += 1) {
    if (typeof args[index] === "string") walk(args[index]);
  }
}

/** What an array is made of: what can be iterated ticks in other places, all else has a length. */
export function allocateForSource(source: unknown): void {
  if (typeof source === "object" && source !== null && !(iterator in source)) allocate(8 * walk(source));
}

/** A number as the native will see it: an object that becomes one is asked once. */
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

/** What is counted of arguments: texts and bytes, which the platform copies. */
export function allocateFor(args: readonly unknown[]): void {
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index];
    if (typeof argument === "string") allocate(2 * walk(argument));
    else allocate(sizeOf(argument));
  }
}
