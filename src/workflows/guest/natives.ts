/** Bounds the language's and the platform's own functions: what they do is no program's code, so no tick is in it. */
import { allocate, tick, work } from "./guard.ts";
import {
  apply,
  byteLengthOf,
  construct,
  defineProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isArray,
  isView,
  keys,
  max,
  NativeProxy,
  ownKeys,
  slice,
  test,
} from "./intrinsics.ts";

/** What a native may walk at once: items of an array, characters of a text. */
const MAX_ITEMS = 2 ** 23;
/** Half of what production allows, since every iteration keeps everybody waiting here. */
const MAX_PBKDF2_ITERATIONS = 100_000;
const MAX_RSA_BITS = 2048;
/** Of a typed array that is sorted: by the language itself, in which there is no tick. */
const MAX_SORTED_BYTES = 2 ** 23;
/** To and from texts they are brought in time that grows faster than they do. */
const MAX_BIGINT_DIGITS = 100_000;
const MAX_BIGINT = 1n << 332_193n;
/** What is walked in the time of a tick. */
const ITEMS_PER_TICK = 16;

type Native = (...args: never[]) => unknown;
type Wrapped = (this: unknown, ...args: unknown[]) => unknown;

/** Puts a function in the place of a native one, under its name; nothing happens where there is none. */
function replace(holder: object, name: PropertyKey, wrap: (native: Wrapped) => Wrapped): void {
  const descriptor = getOwnPropertyDescriptor(holder, name);
  if (typeof descriptor?.value !== "function") return;
  const native = descriptor.value as Wrapped;
  const wrapped = wrap(native);
  for (const property of ["name", "length"] as const) {
    defineProperty(wrapped, property, { value: native[property], configurable: true });
  }
  defineProperty(holder, name, { ...descriptor, value: wrapped });
}

/** A method, not a function: it cannot be called with `new`, and has no `prototype`. */
const method = (body: (self: unknown, args: unknown[]) => unknown): Wrapped =>
  ({
    method(...args: unknown[]): unknown {
      return body(this, args);
    },
  }).method;

/** Has `check` see what each of the functions is called with. */
function checkEach(
  holder: object,
  names: readonly PropertyKey[],
  check: (self: unknown, args: unknown[]) => void,
): void {
  for (const name of names) {
    replace(holder, name, (native) =>
      method((self, args) => {
        check(self, args);
        return apply(native, self, args);
      }),
    );
  }
}

const tooLong = () => new RangeError("The array or text is too long for a workflow");

/**
 * How many items a native would walk. A length must be a plain number: one that is computed could be another one
 * when the native asks. (Proxies compute theirs, but each step over a proxy ticks.)
 */
function lengthOf(list: unknown): number {
  if (typeof list === "string" || isArray(list)) return list.length;
  if (typeof list !== "object" || list === null) return 0;
  if (isView(list)) return byteLengthOf(list);
  for (let holder: object | null = list; holder !== null; holder = getPrototypeOf(holder)) {
    const descriptor = getOwnPropertyDescriptor(holder, "length");
    if (descriptor === undefined) continue;
    const { value } = descriptor;
    if (typeof value === "number") return max(0, value);
    throw new TypeError("The length of what is like an array must be a number");
  }
  return 0;
}

/** Refuses what is too long, and counts what is not. */
function walk(list: unknown): number {
  const length = lengthOf(list);
  if (length > MAX_ITEMS) throw tooLong();
  work(length / ITEMS_PER_TICK);
  return length;
}

const functionsOf = (holder: object, except: readonly PropertyKey[] = []): PropertyKey[] =>
  ownKeys(holder).filter((name) => {
    const isFunction = typeof getOwnPropertyDescriptor(holder, name)?.value === "function";
    return isFunction && name !== "constructor" && !except.includes(name);
  });

/** What is counted of arguments: texts and bytes, which the platform copies. */
function allocateFor(args: readonly unknown[]): void {
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index];
    if (typeof argument === "string") allocate(2 * walk(argument));
    else allocate(sizeOf(argument));
  }
}

function boundArrays(): void {
  const { prototype } = Array;
  // The first ones take the same time for any length; the others have rules of their own.
  const except = [
    "push",
    "pop",
    "at",
    "sort",
    "toSorted",
    "join",
    "toString",
    "toLocaleString",
    "flat",
    "flatMap",
  ];
  checkEach(prototype, functionsOf(prototype, [...except, "concat"]), walk);
  checkEach(prototype, ["slice", "splice", "toSpliced", "with", "toReversed", "map", "filter"], (self) =>
    allocate(8 * lengthOf(self)),
  );
  checkEach(prototype, ["concat"], (self, args) => {
    let items = walk(self);
    for (let index = 0; index < args.length; index += 1) {
      items += isArray(args[index]) ? walk(args[index]) : 1;
    }
    if (items > 4 * MAX_ITEMS) throw tooLong();
    allocate(8 * items);
  });
  checkEach(prototype, ["fill"], (self) => allocate(8 * lengthOf(self)));
  checkEach(prototype, ["flat"], (self, [depth]) => countNested(self, Number(depth ?? 1)));
  checkEach(prototype, ["flatMap"], walk);
  checkEach(prototype, ["join", "toString", "toLocaleString"], (self, [separator]) => {
    const items = countNested(self, Number.POSITIVE_INFINITY);
    allocate(items * (2 + (typeof separator === "string" ? separator.length : 1)));
  });
  // A comparison of ours is what a tick can be put into.
  for (const name of ["sort", "toSorted"]) {
    replace(prototype, name, (native) =>
      method((self, args) => {
        walk(self);
        const [compare] = args;
        if (compare !== undefined && typeof compare !== "function") return apply(native, self, args);
        return apply(native, self, [compare === undefined ? compareTexts : ticking(compare)]);
      }),
    );
  }
  checkEach(Array, ["from", "fromAsync"], (_, [source]) => {
    if (typeof source === "object" && source !== null && Symbol.iterator in source) return;
    allocate(8 * walk(source));
  });
  checkEach(Array, ["of"], (_, args) => allocate(8 * args.length));
}

function compareTexts(a: unknown, b: unknown): number {
  tick();
  const [left, right] = [`${a}`, `${b}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

const ticking =
  (compare: object): Wrapped =>
  (a, b) => {
    tick();
    return apply(compare as Wrapped, undefined, [a, b]);
  };

/** The items of arrays in arrays, each as often as it is met. */
function countNested(list: unknown, depth: number): number {
  let count = walk(list);
  if (!isArray(list) || depth < 1) return count;
  for (let index = 0; index < list.length; index += 1) {
    tick();
    const item: unknown = list[index];
    if (isArray(item)) count += countNested(item, depth - 1);
    else if (typeof item === "string") count += item.length;
  }
  if (count > MAX_ITEMS) throw tooLong();
  return count;
}

function boundTexts(): void {
  const { prototype } = String;
  const growing = ["repeat", "padStart", "padEnd", "replace", "replaceAll", "concat"];
  const constant = ["at", "charAt", "charCodeAt", "codePointAt", "toString", "valueOf"];
  checkEach(prototype, functionsOf(prototype, [...growing, ...constant]), (self, args) => {
    walk(typeof self === "string" ? self : `${self}`);
    for (let index = 0; index < args.length; index += 1) {
      if (typeof args[index] === "string") walk(args[index]);
    }
  });
  checkEach(prototype, constant.slice(0, 4), (self) => {
    if (typeof self === "string" && self.length > MAX_ITEMS) throw tooLong();
  });
  checkEach(prototype, ["split"], (self) => allocate(16 * lengthOf(self)));
  const refuse = (length: number) => {
    if (length > MAX_ITEMS) throw tooLong();
    allocate(2 * length);
  };
  checkEach(prototype, ["repeat"], (self, [times]) => refuse(max(0, `${self}`.length * Number(times ?? 0))));
  checkEach(prototype, ["padStart", "padEnd"], (self, [length]) =>
    refuse(max(`${self}`.length, Number(length ?? 0))),
  );
  checkEach(prototype, ["concat"], (self, args) => {
    let length = `${self}`.length;
    for (let index = 0; index < args.length; index += 1) length += `${args[index]}`.length;
    refuse(length);
  });
  // The most that can come of it: a replacement in every place, with the whole text in each `$&` of it.
  checkEach(prototype, ["replace", "replaceAll"], (self, [, replacement]) => {
    const length = walk(`${self}`);
    if (typeof replacement !== "string") return;
    const growth = test(/\$[&`'\d<]/, replacement) ? replacement.length * (length + 1) : replacement.length;
    if ((length + 1) * max(1, growth) > 2 ** 32) throw tooLong();
    allocate(length);
  });
  checkEach(String, ["raw"], (_, [template]) => {
    if (typeof template === "object" && template !== null && "raw" in template) walk(template.raw);
  });
}

/** Globals that walk a text. */
function boundTextFunctions(): void {
  const walkAll = (_: unknown, args: unknown[]) => {
    for (let index = 0; index < args.length; index += 1) {
      if (typeof args[index] === "string") walk(args[index]);
    }
  };
  checkEach(JSON, ["parse"], (_, [text]) => allocate(4 * walk(`${text}`)));
  checkEach(
    RegExp.prototype,
    ["exec", "test", Symbol.match, Symbol.matchAll, Symbol.replace, Symbol.search, Symbol.split],
    walkAll,
  );
  const names = [
    "encodeURI",
    "encodeURIComponent",
    "decodeURI",
    "decodeURIComponent",
    "escape",
    "unescape",
    "btoa",
    "atob",
  ];
  for (let holder: object | null = globalThis; holder !== null; holder = getPrototypeOf(holder)) {
    checkEach(holder, names, walkAll);
  }
  checkEach(TextEncoder.prototype, ["encode"], (_, [text]) => {
    if (typeof text === "string") allocate(3 * walk(text));
  });
  checkEach(TextDecoder.prototype, ["decode"], (_, [bytes]) => allocate(2 * sizeOf(bytes)));
  checkEach(Object, ["keys", "values", "entries", "getOwnPropertyNames", "assign", "fromEntries"], walkAll);
  checkEach(Reflect, ["ownKeys"], walkAll);
  const iterators = getPrototypeOf("".matchAll(/x/g));
  if (iterators !== null) checkEach(iterators, ["next"], () => tick());
}

/** JSON of the same array in many places is written in each: a replacer ticks in all of them. */
function boundStringify(): void {
  replace(JSON, "stringify", (native) =>
    method((_, [value, replacer, space]) => {
      const visit = function (this: unknown, key: string, item: unknown): unknown {
        tick();
        if (typeof item === "string") walk(item);
        return typeof replacer === "function" ? apply(replacer as Wrapped, this, [key, item]) : item;
      };
      // With a list of names it is written twice: the first time only to see that there is an end of it.
      const isList = isArray(replacer);
      const text = apply(native, JSON, [value, visit, space]);
      if (typeof text === "string") allocate(2 * text.length);
      return isList ? apply(native, JSON, [value, replacer, space]) : text;
    }),
  );
}

/** Bytes of buffers, views and blobs, as they say. */
function sizeOf(data: unknown): number {
  if (typeof data !== "object" || data === null) return 0;
  if (isView(data)) return byteLengthOf(data);
  if (data instanceof ArrayBuffer) return data.byteLength;
  return data instanceof Blob ? data.size : 0;
}

/** A class whose constructor is seen by `check` first; nothing else of it changes. */
function checkConstruction(holder: object, name: string, check: (args: unknown[]) => void): void {
  const descriptor = getOwnPropertyDescriptor(holder, name);
  if (typeof descriptor?.value !== "function") return;
  const native = descriptor.value as (new (...args: unknown[]) => object) & { prototype?: object };
  const checked = new NativeProxy(native, {
    construct(target, args: unknown[], newTarget) {
      check(args);
      return construct(target, args, newTarget) as object;
    },
    apply(target, self, args: unknown[]) {
      check(args);
      return apply(target, self, args);
    },
  });
  defineProperty(holder, name, { ...descriptor, value: checked });
  // By it the native itself would still be in reach. A proxy has no such object.
  const { prototype } = native;
  if (prototype !== undefined) {
    defineProperty(prototype, "constructor", { value: checked, writable: true, configurable: true });
  }
}

const VIEWS = [
  ...[
    "Int8Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "Int16Array",
    "Uint16Array",
    "Int32Array",
    "Uint32Array",
  ],
  ...["Float16Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array"],
];

function boundBytes(): void {
  checkConstruction(globalThis, "ArrayBuffer", ([length, options]) => {
    const { maxByteLength } = (options ?? {}) as { maxByteLength?: unknown };
    allocate(max(Number(length ?? 0), Number(maxByteLength ?? 0)));
  });
  checkEach(
    ArrayBuffer.prototype,
    ["slice", "resize", "transfer", "transferToFixedLength"],
    (self, [length]) => allocate(max(sizeOf(self), Number(length ?? 0))),
  );
  for (const name of VIEWS) {
    checkConstruction(globalThis, name, ([source]) => {
      if (typeof source === "number") allocate(8 * source);
      else if (isView(source) || isArray(source)) allocate(8 * lengthOf(source));
      else if (typeof source === "object" && source !== null && !(source instanceof ArrayBuffer)) {
        if (!(Symbol.iterator in source)) allocate(8 * walk(source));
      }
    });
  }
  const typed = getPrototypeOf(Uint8Array) as (new () => object) | null;
  if (typed !== null) {
    const { prototype } = typed;
    const count = (self: unknown) => work(lengthOf(self) / ITEMS_PER_TICK);
    checkEach(prototype, functionsOf(prototype, ["at"]), count);
    checkEach(prototype, ["slice", "map", "filter", "toSorted", "toReversed", "with"], (self) =>
      allocate(lengthOf(self)),
    );
    checkEach(prototype, ["set"], (_, [source]) => walk(source));
    checkEach(prototype, ["sort", "toSorted"], (self) => {
      if (lengthOf(self) > MAX_SORTED_BYTES) throw tooLong();
    });
    checkEach(prototype, ["join", "toString", "toLocaleString"], (self) => allocate(8 * walk(self)));
    checkEach(typed, ["from"], (_, [source]) => {
      if (typeof source === "object" && source !== null && !(Symbol.iterator in source))
        allocate(8 * walk(source));
    });
  }
  checkConstruction(globalThis, "Array", (args) => {
    if (args.length === 1 && typeof args[0] === "number" && args[0] < 2 ** 25 + 2 ** 20)
      allocate(8 * args[0]);
  });
  for (let holder: object | null = globalThis; holder !== null; holder = getPrototypeOf(holder)) {
    for (const name of ["Blob", "File"]) {
      checkConstruction(holder, name, ([parts]) => {
        if (isArray(parts))
          for (let index = 0; index < parts.length; index += 1) allocate(sizeOf(parts[index]));
      });
    }
    for (const name of ["Request", "Response", "Headers", "URL", "URLSearchParams", "FormData"]) {
      checkConstruction(holder, name, allocateFor);
    }
    checkEach(holder, ["structuredClone"], (_, [value]) => allocate(measure(value)));
  }
  for (const type of [FormData, Headers, URLSearchParams]) {
    checkEach(type.prototype, ["append", "set"], (_, args) => allocateFor(args));
  }
  for (const type of [Request, Response, Blob]) {
    for (const name of ["arrayBuffer", "bytes", "text", "json", "blob", "formData"]) {
      replace(type.prototype, name, (native) =>
        method(async (self, args) => {
          const read = await apply(native, self, args);
          allocate(typeof read === "string" ? 2 * read.length : sizeOf(read));
          return read;
        }),
      );
    }
  }
}

/** What a clone of a value holds, roughly; a part that is met twice is counted twice. */
function measure(value: unknown, depth = 0): number {
  tick();
  if (typeof value === "string") return 2 * value.length;
  if (typeof value !== "object" || value === null || depth > 100) return 8;
  let size = 64 + sizeOf(value);
  if (isView(value)) return size;
  const names = keys(value);
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? "";
    size += name.length + measure((value as Record<string, unknown>)[name], depth + 1);
  }
  return size;
}

/** A native that is bound calls itself, by ways such as `then`, without any code of the program's. */
function boundFunctions(): void {
  const source = Function.prototype.toString;
  const bind = Function.prototype.bind;
  replace(Function.prototype, "bind", () =>
    method((self, args) => {
      const bound = apply(bind, self as Native, args) as unknown as Wrapped;
      if (!test(/\{\s*\[native code\]\s*\}$/, slice(apply(source, self as Native, []), -40))) return bound;
      return new NativeProxy(bound, {
        apply(target, receiver, given: unknown[]) {
          tick();
          return apply(target, receiver, given);
        },
        construct(target, given: unknown[], newTarget) {
          tick();
          return construct(target, given, newTarget) as object;
        },
      });
    }),
  );
  // Every step over a proxy asks its handler for a trap, so the handler is where it can be seen.
  const watched = (handler: unknown) =>
    typeof handler !== "object" || handler === null
      ? handler
      : new NativeProxy(handler, {
          get(target, trap) {
            tick();
            return Reflect.get(target, trap);
          },
        });
  checkConstruction(globalThis, "Proxy", (args) => {
    args[1] = watched(args[1]);
  });
}

function boundNumbers(): void {
  checkConstruction(globalThis, "BigInt", ([text]) => {
    if (typeof text === "string" && text.length > MAX_BIGINT_DIGITS) throw tooLong();
  });
  checkEach(BigInt.prototype, ["toString", "toLocaleString"], (self) => {
    if (typeof self === "bigint" && (self > MAX_BIGINT || self < -MAX_BIGINT)) throw tooLong();
  });
}

function boundCrypto(): void {
  const { prototype } = SubtleCrypto;
  const limit = (field: string, most: number) => (_: unknown, args: unknown[]) => {
    const [algorithm] = args;
    if (typeof algorithm !== "object" || algorithm === null) return;
    // A copy, so that what is checked is what is used.
    const copy: Record<string, unknown> = { ...algorithm };
    const value = Number(copy[field] ?? 0);
    if (value > most) throw new RangeError(`${field} may be at most ${most}`);
    if (field in copy) copy[field] = value;
    args[0] = copy;
  };
  for (const [name, field, most] of [
    ["deriveBits", "iterations", MAX_PBKDF2_ITERATIONS],
    ["deriveKey", "iterations", MAX_PBKDF2_ITERATIONS],
    ["generateKey", "modulusLength", MAX_RSA_BITS],
  ] as const) {
    const check = limit(field, most);
    replace(prototype, name, (native) =>
      method(async (self, args) => {
        check(self, args);
        return apply(native, self, args);
      }),
    );
  }
}

export function boundNatives(): void {
  boundTexts();
  boundTextFunctions();
  boundStringify();
  boundBytes();
  boundNumbers();
  boundArrays();
  boundFunctions();
  boundCrypto();
}
