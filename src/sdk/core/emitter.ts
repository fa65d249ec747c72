/** Event listeners: one that throws, or that adds or removes listeners, does not affect the others. */

type Listener<Payload> = (payload: Payload) => void;

export class Emitter<Events extends object> {
  // Without a prototype, because applications choose the names of broadcasts.
  readonly #listeners: { [Name in keyof Events]?: Set<Listener<Events[Name]>> } = Object.create(null);

  /** Calls `listener` for each event of this name. Returns a function that removes the listener. */
  on<Name extends keyof Events>(event: Name, listener: Listener<Events[Name]>): () => void {
    const listeners = this.#listeners[event] ?? new Set<Listener<Events[Name]>>();
    this.#listeners[event] = listeners;
    listeners.add(listener);
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

/** Calls the listeners as they are now, without those that are removed meanwhile. Reports what they throw. */
export function callEach<Arguments extends readonly unknown[]>(
  listeners: ReadonlySet<(...args: Arguments) => void> | undefined,
  ...args: Arguments
): void {
  for (const listener of [...(listeners ?? [])]) {
    if (listeners?.has(listener)) guard(() => listener(...args));
  }
}

/** Runs a callback of the application, and reports what it throws instead of passing it on. */
export function guard(action: () => void): void {
  try {
    action();
  } catch (error) {
    report(error);
  }
}

/** Reports an error that no caller can receive to the developer. */
export function report(error: unknown): void {
  if (typeof reportError === "function") reportError(error);
  else console.error(error);
}
