/** Content that is loaded once a component uses it, and the state of its loading. */
import { AtriumError } from "../client/index.ts";
import { DEFAULT_RUNTIME, Waiters } from "../core/runtime.ts";
import { ExternalSource, Readiness, type Source, together, type Unsubscribe } from "./external-source.ts";
import { type AnyClient, reportUnlessDisconnected, whenFailed } from "./shared-connection.ts";

/** State of the latest loading. */
export interface LoadState {
  /** Whether nothing was loaded yet, and it has not failed. */
  readonly isLoading: boolean;
  /** Why the latest loading has failed; null once one succeeds. */
  readonly error: AtriumError | null;
}

export interface Loading extends LoadState {
  /** Loads again, after a failure. The next join does so, too. */
  reload(): void;
}

export interface Loadable<Value> {
  readonly initial: Value;
  /** Whether there is a value to show, which {@link load} may still complete. */
  isKnown(): boolean;
  /** Whether there is nothing to load. */
  isLoaded(): boolean;
  /** The value, or the one shown before until it is known. */
  select(shown: Value): Value;
  /** False while a loading would have to wait. `start` is called after that. */
  canLoad(): boolean;
  /** Loads some of the missing data. */
  load(): Promise<unknown>;
  /** Reports a failure, and may have failed itself: then there is nothing to load. */
  readonly client?: Pick<AnyClient, "report" | "socket"> | undefined;
  /** Called when components begin to use the value, until its result is called. */
  watch?(): Unsubscribe;
}

const MISSING: LoadState = { isLoading: true, error: null };

/** A value of which the owner tells by {@link update} and {@link start} when there is something to show or to load. */
export class Loaded<Value> {
  readonly source: Source<Value>;
  readonly state: Source<Loading>;
  readonly #of: Loadable<Value>;
  readonly #readiness: Readiness;
  readonly #waiters = new Waiters(DEFAULT_RUNTIME);
  #value: Value;
  #state: LoadState = MISSING;
  /** Null while no component uses the value. */
  #changed: (() => void) | null = null;
  #stateChanged = () => {};
  #isUnderWay = false;

  constructor(of: Loadable<Value>) {
    this.#of = of;
    this.#value = of.initial;
    const { reload } = this;
    this.source = new ExternalSource(
      (changed) => {
        this.#changed = changed;
        const { client } = of;
        const unwatch = together(
          ...(client ? [whenFailed(client, (error) => this.#lose(error))] : []),
          of.watch?.() ?? (() => {}),
        );
        this.start();
        return together(unwatch, () => {
          this.#changed = null;
        });
      },
      () => {
        this.#value = of.select(this.#value);
        return this.#value;
      },
      of.initial,
    );
    this.state = new ExternalSource<Loading>(
      (changed) => {
        this.#stateChanged = changed;
        return () => {};
      },
      () => {
        if (of.isKnown()) this.#state = { ...this.#state, isLoading: false };
        return { ...this.#state, reload };
      },
      { ...MISSING, reload },
    );
    this.#readiness = new Readiness(() => ({
      done: this.#waiters.wait(),
      release: this.source.subscribe(() => {}),
    }));
  }

  get isUsed(): boolean {
    return this.#changed !== null;
  }

  /** Whether a component that waits for the value can show it. */
  get loaded(): Readiness {
    if (this.#of.isKnown()) this.#readiness.set(true);
    return this.#readiness;
  }

  /** Loads missing data, if a component uses it. */
  readonly start = (): void => {
    if (this.isUsed && !this.#isUnderWay) void this.#load();
  };

  readonly reload = (): void => this.start();

  /** Shows changes. */
  update(): void {
    this.#changed?.();
    this.#stateChanged();
  }

  fail(error: AtriumError): void {
    this.#state = { isLoading: false, error };
    this.#stateChanged();
    this.#waiters.reject(error);
  }

  /** Missing content cannot be loaded any more. */
  #lose(error: AtriumError): void {
    if (!this.#of.isLoaded()) this.fail(error);
  }

  async #load(): Promise<void> {
    this.#isUnderWay = true;
    try {
      while (this.isUsed && !this.#of.isLoaded() && this.#of.canLoad()) await this.#of.load();
      if (this.#of.isLoaded()) this.#succeed();
    } catch (error) {
      const { client } = this.#of;
      if (client) client.report(error);
      else reportUnlessDisconnected(error);
      if (error instanceof AtriumError && error.code !== "DISCONNECTED") this.fail(error);
      else this.#waiters.reject(error);
    } finally {
      this.#isUnderWay = false;
    }
  }

  #succeed(): void {
    this.#state = { isLoading: false, error: null };
    this.#readiness.set(true);
    this.update();
    this.#waiters.resolve();
  }
}
