/** Something outside of React that changes, as components read it: the same value until it was told to be stale. */
import { useSyncExternalStore } from "react";

export type Unsubscribe = () => void;

export class ExternalSource<Value> {
  readonly #watch: (changed: () => void) => Unsubscribe;
  readonly #compute: () => Value;
  #value: { readonly current: Value } | null = null;

  /** `watch` calls back after each change of what `compute` gives, until its own answer is called. */
  constructor(watch: (changed: () => void) => Unsubscribe, compute: () => Value) {
    this.#watch = watch;
    this.#compute = compute;
  }

  /** Tells of everything that changes in one turn once, as a frame brings many users' news. */
  readonly subscribe = (listener: () => void): Unsubscribe => {
    let isTelling = false;
    let isOver = false;
    const tell = () => {
      isTelling = false;
      if (isOver) return;
      this.#value = null;
      listener();
    };
    const off = this.#watch(() => {
      if (isTelling) return;
      isTelling = true;
      queueMicrotask(tell);
    });
    this.#value = null; // nobody has listened since it was computed
    return () => {
      isOver = true;
      off();
    };
  };

  readonly read = (): Value => {
    this.#value ??= { current: this.#compute() };
    return this.#value.current;
  };
}

/** The present value of a source. The component renders again when it changes. */
export const useExternalSource = <Value>(source: Pick<ExternalSource<Value>, "subscribe" | "read">): Value =>
  useSyncExternalStore(source.subscribe, source.read, source.read);

/** Ends several subscriptions as one. */
export const together =
  (...offs: readonly Unsubscribe[]): Unsubscribe =>
  () => {
    for (const off of offs) off();
  };
