/** Replaces native functions by ours. They read arguments by index, because the program may have changed iterators. */
import {
  apply,
  construct,
  defineProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  NativeProxy,
  ownKeys,
} from "../guard/intrinsics.ts";

export type Native = (this: unknown, ...args: unknown[]) => unknown;
/** Checks the arguments of a native, and may replace them. */
type Check = (self: unknown, args: unknown[]) => void;
type Constructor = (new (...args: unknown[]) => object) & { readonly prototype?: object };

/** The global object and its prototypes: classes and functions of the platform are on either. */
export function globalHolders(): object[] {
  const holders: object[] = [];
  for (let holder: object | null = globalThis; holder !== null; holder = getPrototypeOf(holder)) {
    holders.push(holder);
  }
  return holders;
}

/** The names of all functions of an object, except its constructor. */
export const functionsOf = (holder: object, except: readonly PropertyKey[] = []): PropertyKey[] =>
  ownKeys(holder).filter((name) => {
    const isFunction = typeof getOwnPropertyDescriptor(holder, name)?.value === "function";
    return isFunction && name !== "constructor" && !except.includes(name);
  });

/** Replaces a native function, and keeps its name. Does nothing if there is none. */
export function replace(holder: object, name: PropertyKey, wrap: (native: Native) => Native): void {
  const descriptor = getOwnPropertyDescriptor(holder, name);
  if (typeof descriptor?.value !== "function") return;
  const native = descriptor.value as Native;
  const wrapped = wrap(native);
  for (const property of ["name", "length"] as const) {
    defineProperty(wrapped, property, { value: native[property], configurable: true });
  }
  defineProperty(holder, name, { ...descriptor, value: wrapped });
}

/** A method, not a function: it cannot be called with `new`, and has no `prototype`. */
export const method = (body: (self: unknown, args: unknown[]) => unknown): Native =>
  ({
    method(...args: unknown[]): unknown {
      return body(this, args);
    },
  }).method;

/** Calls `check` with the arguments of each of the functions. */
export function checkEach(holder: object, names: readonly PropertyKey[], check: Check): void {
  for (const name of names) {
    replace(holder, name, (native) =>
      method((self, args) => {
        check(self, args);
        return apply(native, self, args);
      }),
    );
  }
}

/** A handler without a prototype: a property that a program adds to `Object.prototype` must not become a trap. */
export const handlerOf = <T extends object>(traps: ProxyHandler<T>): ProxyHandler<T> =>
  Object.assign(Object.create(null), traps);

/** Replaces a class by one whose constructor calls `check` first; everything else stays. */
export function checkConstruction(holder: object, name: string, check: (args: unknown[]) => void): void {
  const descriptor = getOwnPropertyDescriptor(holder, name);
  if (typeof descriptor?.value !== "function") return;
  const native = descriptor.value as Constructor;
  const traps = handlerOf<Constructor>({
    construct(target, args: unknown[], newTarget) {
      check(args);
      return construct(target, args, newTarget) as object;
    },
    apply(target, self, args: unknown[]) {
      check(args);
      return apply(target, self, args);
    },
  });
  const checked = new NativeProxy(native, traps);
  defineProperty(holder, name, { ...descriptor, value: checked });
  // It would still lead to the native class. `Proxy` has no such property.
  const { prototype } = native;
  if (prototype !== undefined) {
    defineProperty(prototype, "constructor", { value: checked, writable: true, configurable: true });
  }
}
