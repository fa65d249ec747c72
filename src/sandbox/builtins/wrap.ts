/** Puts functions of ours in the places of native ones. They go by their arguments' indices: iterators are the program's. */
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
/** Sees what a native is called with, and may put something else in the arguments' places. */
type Check = (self: unknown, args: unknown[]) => void;
type Constructor = (new (...args: unknown[]) => object) & { readonly prototype?: object };

/** The global and what it inherits from: the platform's classes and functions stand on either. */
export function globalHolders(): object[] {
  const holders: object[] = [];
  for (let holder: object | null = globalThis; holder !== null; holder = getPrototypeOf(holder)) {
    holders.push(holder);
  }
  return holders;
}

/** The names of all functions of an object, its constructor aside. */
export const functionsOf = (holder: object, except: readonly PropertyKey[] = []): PropertyKey[] =>
  ownKeys(holder).filter((name) => {
    const isFunction = typeof getOwnPropertyDescriptor(holder, name)?.value === "function";
    return isFunction && name !== "constructor" && !except.includes(name);
  });

/** Puts a function in the place of a native one, under its name; nothing happens where there is none. */
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

/** Has `check` see what each of the functions is called with. */
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

/** A handler without a prototype: what a program puts on that of all objects must not become a trap. */
export const handlerOf = <T extends object>(traps: ProxyHandler<T>): ProxyHandler<T> =>
  Object.assign(Object.create(null), traps);

/** A class whose constructor is seen by `check` first; nothing else of it changes. */
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
  // By it the native itself would still be in reach. `Proxy` has no such object.
  const { prototype } = native;
  if (prototype !== undefined) {
    defineProperty(prototype, "constructor", { value: checked, writable: true, configurable: true });
  }
}
