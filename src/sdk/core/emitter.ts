/** Listeners: one that throws, comes or goes during a call keeps no other from being called. */

type Listener<Payload> = (payload: Payload) => void;

export class Emitter<Events extends object> {
  // Without a prototype, as an event may have any name.
  readonly #listeners: { [Name in keyof Events]?: Set<Listener<Events[Name]>> } = Object.create(null);

  /** Calls `listener` from now on, once however often it is added. Returns the function that ends it. */
  on<Name extends keyof Events>(event: Name, listener: Listener<Events[Name]>): () => void {
    const listeners = this.#listeners[event] ?? new Set<Listener<Events[Name]>>();
    this.#listeners[event] = listeners;
    listeners.add(listener);
    return () => this.off(event, listener);
  }

  /** Ends what `on` began. */
  off<Name extends keyof Events>(event: Name, listener: Listener<Events[Name]>): void {
    this.#listeners[event]?.delete(listener);
  }

  protected emit<Name extends keyof Events>(event: Name, payload: Events[Name]): void {
    const listeners = this.#listeners[event];
    for (const listener of [...(listeners ?? [])]) {
      if (listeners?.has(listener)) guard(() => listener(payload));
    }
  }
}

/** Runs what a user of the client wrote: its errors are reported, and are not ours. */
export function guard(action: () => void): void {
  try {
    action();
  } catch (error) {
    report(error);
  }
}

/** Tells the developer of an error that nobody waits for. */
export function report(error: unknown): void {
  if (typeof reportError === "function") reportError(error);
  else console.error(error);
}
