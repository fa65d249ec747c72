/** The language's own functions as they were before the program could change any of them. */

export const { apply, defineProperty, getPrototypeOf } = Reflect;
const { getOwnPropertyDescriptor } = Reflect;
export const { create, freeze, keys } = Object;
export const { isArray } = Array;
export const { isView } = ArrayBuffer;
/** True for a number that JSON can hold. */
export const { isFinite: isFiniteNumber, parseFloat: readFloat, parseInt: readInteger } = Number;
export const { parse, stringify } = JSON;
export const {
  AggregateError: NativeAggregateError,
  ArrayBuffer: NativeArrayBuffer,
  Date: NativeDate,
  Error: NativeError,
  Map: NativeMap,
  Number: NativeNumber,
  Promise: NativePromise,
  RegExp: NativeRegExp,
  Request: NativeRequest,
  Set: NativeSet,
  TypeError: NativeTypeError,
  setTimeout,
  clearTimeout,
} = globalThis;
export const NativeBlob = Blob;
export const NativeURL = URL;

/** A method as a function of its receiver. Later changes of its prototype do not affect it. */
const uncurry =
  <Self, Args extends readonly unknown[], Result>(
    method: (this: Self, ...args: Args) => Result,
  ): ((self: Self, ...args: Args) => Result) =>
  (self, ...args) =>
    apply(method, self, args);

/** Appends without calling a setter that a program may have put on `Array.prototype`. */
export function push<T>(list: T[], item: T): void {
  defineProperty(list, list.length, {
    // A descriptor without a prototype inherits no getters either.
    __proto__: null,
    value: item,
    writable: true,
    enumerable: true,
    configurable: true,
  } as PropertyDescriptor);
}

export const exec = uncurry(RegExp.prototype.exec);
export const split = uncurry<string, [separator: string], string[]>(String.prototype.split);
export const slice = uncurry(String.prototype.slice);
export const join = uncurry(Array.prototype.join);
export const toISOString = uncurry(Date.prototype.toISOString);
export const readTime = uncurry(Date.prototype.getTime);
export const eachOfMap = uncurry(Map.prototype.forEach);
export const eachOfSet = uncurry(Set.prototype.forEach);
export const patternOf = uncurry(RegExp.prototype.toString);
export const addressOf = uncurry(URL.prototype.toString);

const encode = uncurry(TextEncoder.prototype.encode);
const encoder = new TextEncoder();
const { get: typedLength } =
  getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype) ?? {}, "byteLength") ?? {};

export const utf8 = (text: string): Uint8Array => encode(encoder, text);

/** The size of a view in bytes, read from the view itself: its own `byteLength` may lie. */
export const byteLengthOf = (view: ArrayBufferView): number =>
  typedLength === undefined ? view.byteLength : apply(typedLength, view, []);
