/** A value outside of React that components read: the same object until it has changed. */
import { useSyncExternalStore } from "react";

export type Unsubscribe = () => void;

export class ExternalSource<Value> {
  readonly #watch: (changed: () => void) => Unsubscribe;
  readonly #compute: () => Value;
  #value: { readonly current: Value } | null = null;

  /** `watch` calls back whenever the result of `compute` has changed, until the function that it returns is called. */
  constructor(watch: (changed: () => void) => Unsubscribe, compute: () => Value) {
    this.#watch = watch;
    this.#compute = compute;
  }

  /** Calls `listener` once for all changes of one turn, because a frame can change many users. */
  readonly subscribe = (listener: () => void): Unsubscribe => {
    let isScheduled = false;
    let hasEnded = false;
    const notify = () => {
      isScheduled = false;
      if (hasEnded) return;
      this.#value = null;
      listener();
    };
    const unwatch = this.#watch(() => {
      if (isScheduled) return;
      isScheduled = true;
      queueMicrotask(notify);
    });
    this.#value = null; // it may have changed since it was computed, unwatched
    return () => {
      hasEnded = true;
      unwatch();
    };
  };

  readonly read = (): Value => {
    this.#value ??= { current: this.#compute() };
    return this.#value.current;
  };
}

/** The current value of a source. The component renders again when it changes. */
export const useExternalSource = <Value>(source: Pick<ExternalSource<Value>, "subscribe" | "read">): Value =>
  useSyncExternalStore(source.subscribe, source.read, source.read);

/** Combines several unsubscribe functions into one. */
export const together =
  (...unsubscribes: readonly Unsubscribe[]): Unsubscribe =>
  () => {
    for (const unsubscribe of unsubscribes) unsubscribe();
  };
