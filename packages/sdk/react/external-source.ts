/** A value outside of React that components read: the same object until it changes. */

/** Whether two selected values are the same for the component that selects them. */
export type Equality<Value> = (a: Value, b: Value) => boolean;

/** Whether both values are identical, or arrays or plain objects with identical elements: the default of all selectors. */
export function shallowEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((element, index) => Object.is(element, b[index]));
  if (!isPlain(a) || !isPlain(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && Object.is(a[key], b[key]))
  );
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export type Unsubscribe = () => void;

/** `initial` is the value on the server, and during hydration. */
export interface Source<Value> {
  readonly initial: Value;
  subscribe(listener: () => void): Unsubscribe;
  read(): Value;
}

export class ExternalSource<Value> implements Source<Value> {
  readonly initial: Value;
  readonly #watch: (changed: () => void) => Unsubscribe;
  readonly #compute: () => Value;
  readonly #listeners = new Set<() => void>();
  #unwatch: Unsubscribe | null = null;
  #value: Value;
  #isOutdated = true;
  /** Whether listeners were called in this turn, and another change followed. */
  #turn: "quiet" | "notified" | "changed" = "quiet";

  /** `watch` calls back when the result of `compute` may have changed, until its result is called. */
  constructor(watch: (changed: () => void) => Unsubscribe, compute: () => Value, initial: Value) {
    this.#watch = watch;
    this.#compute = compute;
    this.#value = initial;
    this.initial = initial;
  }

  readonly subscribe = (listener: () => void): Unsubscribe => {
    // The same listener can be added twice.
    const added = () => listener();
    this.#listeners.add(added);
    this.#unwatch ??= this.#watch(() => this.#changed());
    this.#isOutdated = true; // the value may have changed unwatched
    return () => {
      this.#listeners.delete(added);
      if (this.#listeners.size > 0) return;
      this.#unwatch?.();
      this.#unwatch = null;
    };
  };

  readonly read = (): Value => {
    if (this.#isOutdated || this.#unwatch === null) {
      const value = this.#compute();
      if (!shallowEqual(value, this.#value)) this.#value = value;
      this.#isOutdated = false;
    }
    return this.#value;
  };

  /** Calls listeners at once, as a controlled input renders within its event, and once more after a turn of changes. */
  #changed(): void {
    this.#isOutdated = true;
    if (this.#turn !== "quiet") {
      this.#turn = "changed";
      return;
    }
    this.#turn = "notified";
    queueMicrotask(() => {
      const hasChanged = this.#turn === "changed";
      this.#turn = "quiet";
      if (hasChanged) this.#notify();
    });
    this.#notify();
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener();
  }
}

export const partOf = <Whole, Part>(source: Source<Whole>, pick: (whole: Whole) => Part): Source<Part> => ({
  initial: pick(source.initial),
  subscribe: (listener) => source.subscribe(listener),
  read: () => pick(source.read()),
});

export const together =
  (...unsubscribes: readonly Unsubscribe[]): Unsubscribe =>
  () => {
    for (const unsubscribe of unsubscribes) unsubscribe();
  };

/** React discards a suspended tree that never mounted, and renders it again when the promise settles. */
const KEPT_MS = 10_000;
/** The time for which a failure is thrown again; later, a reset error boundary makes another attempt. */
const FAILED_MS = 1_000;

interface Preparation {
  readonly done: Promise<unknown>;
  readonly release: Unsubscribe;
}

/** A condition that components wait for: they suspend until it holds, and throw the error that prevents it. */
export class Readiness {
  readonly #prepare: () => Preparation;
  #isReady = false;
  #waiting: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(prepare: () => Preparation) {
    this.#prepare = prepare;
  }

  set(isReady: boolean): void {
    this.#isReady = isReady;
  }

  /**
   * Returns if it is ready. Otherwise throws the error, or a promise that settles once the condition is
   * decided. For use while rendering.
   */
  require(): void {
    if (this.#isReady) return;
    if (this.#failure !== null) throw this.#failure.error;
    this.#waiting ??= this.#wait();
    throw this.#waiting;
  }

  /** Resolves once the condition holds. Rejects with the error that prevents it. For use outside of components. */
  async wait(): Promise<void> {
    if (this.#isReady) return;
    const { done, release } = this.#prepare();
    await done.finally(release);
  }

  async #wait(): Promise<void> {
    // Rendering does not act: requested work begins after it.
    await null;
    const { done, release } = this.#prepare();
    try {
      await done;
      this.#isReady = true;
      setTimeout(release, KEPT_MS);
    } catch (error) {
      const failure = { error };
      this.#failure = failure;
      setTimeout(() => {
        this.#failure = null;
        release();
      }, FAILED_MS);
    } finally {
      this.#waiting = null;
    }
  }
}
