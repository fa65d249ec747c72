/** A client runtime whose time advances only when a test says so. */
import { DEFAULT_RUNTIME, type Runtime } from "../../../packages/sdk/core/runtime.ts";

interface Timer {
  readonly at: number;
  readonly action: () => void;
}

export class Clock implements Runtime {
  #now = 0;
  readonly #timers = new Set<Timer>();

  now = (): number => this.#now;
  date = (): number => Date.now() + this.#now;
  random = (): number => 0.5;
  open = DEFAULT_RUNTIME.open;
  fetch = (url: string, init: RequestInit): Promise<Response> => DEFAULT_RUNTIME.fetch(url, init);
  /** The browser's window. */
  readonly page = new EventTarget();
  listen: Runtime["listen"] = (event, action) => {
    this.page.addEventListener(event, action);
    return () => this.page.removeEventListener(event, action);
  };

  after = (delayMs: number, action: () => void): (() => void) => {
    const timer = { at: this.#now + delayMs, action };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** How many timers are pending. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** No timer runs any more: the page has ended. */
  stop(): void {
    this.#timers.clear();
    this.after = () => () => {};
  }

  /** Advances the time, and runs each timer at the moment when it is due. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let timer = this.#nextBefore(end); timer !== undefined; timer = this.#nextBefore(end)) {
      this.#timers.delete(timer);
      this.#now = timer.at;
      timer.action();
    }
    this.#now = end;
  }

  #nextBefore(end: number): Timer | undefined {
    return [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  }
}
