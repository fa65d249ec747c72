/** Event listeners: a listener that throws, or that changes the listeners, does not affect others. */

type Listener<Payload> = (payload: Payload) => void;

export class Emitter<Events extends object> {
  // No prototype: applications choose the names of broadcasts.
  readonly #listeners: { [Name in keyof Events]?: Set<Listener<Events[Name]>> } = Object.create(null);

  /** Calls `listener` for each event of this name. Returns a function that removes the listener. */
  on<Name extends keyof Events>(event: Name, listener: Listener<Events[Name]>): () => void {
    this.#listeners[event] ??= new Set<Listener<Events[Name]>>();
    this.#listeners[event].add(listener);
    return () => this.off(event, listener);
  }

  /** Removes a listener that `on` added. */
  off<Name extends keyof Events>(event: Name, listener: Listener<Events[Name]>): void {
    this.#listeners[event]?.delete(listener);
  }

  protected emit<Name extends keyof Events>(event: Name, payload: Events[Name]): void {
    callEach(this.#listeners[event], payload);
  }

  protected hasListeners(event: keyof Events): boolean {
    return (this.#listeners[event]?.size ?? 0) > 0;
  }
}

/** The value of a key; a new one the first time. */
export function getOrAdd<Key, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  create: (key: Key) => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = create(key);
  map.set(key, value);
  return value;
}

/** Skips listeners that are removed meanwhile, and reports errors. */
export function callEach<Arguments extends readonly unknown[]>(
  listeners: ReadonlySet<(...args: Arguments) => void> | undefined,
  ...args: Arguments
): void {
  for (const listener of [...(listeners ?? [])]) {
    if (listeners?.has(listener)) guard(() => listener(...args));
  }
}

/** Runs a callback of the application, and reports its error. */
export function guard(action: () => void): void {
  try {
    action();
  } catch (error) {
    report(error);
  }
}

/** Reports an error without a caller to the developer. */
export function report(error: unknown): void {
  if (typeof reportError === "function") reportError(error);
  else console.error(error);
}
