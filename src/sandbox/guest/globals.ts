/** The globals that a program sees: takes one away, or puts ours in its place. */
import { defineProperty, getPrototypeOf } from "./intrinsics.ts";

/** Removes a global of the platform, wherever it is defined. */
export function remove(name: string): void {
  for (let holder: object | null = globalThis; holder !== null; holder = getPrototypeOf(holder)) {
    if (Object.hasOwn(holder, name)) Reflect.deleteProperty(holder, name);
  }
}

/** Replaces a global of the platform, wherever it is defined. */
export function install(name: string, value: unknown): void {
  remove(name);
  defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}
