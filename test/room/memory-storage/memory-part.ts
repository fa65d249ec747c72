/** A part of the storage in memory: its state is replaced, never mutated, so that the old state is a snapshot. */
export abstract class MemoryPart<State> {
  readonly #empty: State;
  protected state: State;

  constructor(empty: State) {
    this.#empty = empty;
    this.state = empty;
  }

  /** Returns a function that restores the present state. */
  snapshot(): () => void {
    const { state } = this;
    return () => {
      this.state = state;
    };
  }

  clear(): void {
    this.state = this.#empty;
  }
}
