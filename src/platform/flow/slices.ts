/** Work that is done in bounded slices, and continued by a later run when a run has done enough. */

/** The calls and queries that one invocation may make; all parts of its work share them. */
export interface CallBudget {
  /** Calls of any kind, of which the platform allows 10,000. */
  readonly calls: Slices;
  /** Batches on D1, of which the platform allows 1,000. Each is a call as well. */
  readonly queries: Slices;
}

/** Smaller than the platform's limits by what work may need to end that has begun. */
const MAX_CALLS = 8_000;
const MAX_QUERIES = 800;

/** The budget of one invocation, or of one of `shares` works that it does. */
export function newCallBudget(shares = 1): CallBudget {
  const calls = new Slices(MAX_CALLS / shares);
  return { calls, queries: new Slices(MAX_QUERIES / shares, calls) };
}

/** How many more slices a run may do; all parts of its work share it. */
export class Slices {
  #left: number;
  readonly #all: Slices | null;

  constructor(count: number, all: Slices | null = null) {
    this.#left = count;
    this.#all = all;
  }

  get areLeft(): boolean {
    return this.#left > 0 && (this.#all === null || this.#all.areLeft);
  }

  /** Of these slices, so many at most, for one part of the work. */
  upTo(count: number): Slices {
    return new Slices(count, this);
  }

  take(): void {
    this.#left -= 1;
    this.#all?.take();
  }

  /** Repeats `slice` until it is not full. False when slices ran out before that. */
  async finish(slice: () => Promise<{ readonly isFull: boolean }>): Promise<boolean> {
    while (this.areLeft) {
      this.take();
      if (!(await slice()).isFull) return true;
    }
    return false;
  }
}
