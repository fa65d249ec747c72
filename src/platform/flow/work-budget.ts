/** Work budgets: long work goes in chunks, and a later run continues once a run's budget is spent. */

/** Calls and queries of one invocation, which all its work shares. */
export interface CallBudget {
  /** Calls of any kind: the platform allows 10,000. */
  readonly calls: WorkBudget;
  /** Batches on D1, each also a call: the platform allows 1,000. */
  readonly queries: WorkBudget;
}

/** Below the platform's limits, so that begun work can end. */
const MAX_CALLS = 8_000;
const MAX_QUERIES = 800;

/** The budget of one invocation, or of one of its `shares` equal tasks. */
export function newCallBudget(shares = 1): CallBudget {
  const calls = new WorkBudget(MAX_CALLS / shares);
  return { calls, queries: new WorkBudget(MAX_QUERIES / shares, calls) };
}

/** A number of chunks (or calls) that a run may still do. */
export class WorkBudget {
  #left: number;
  readonly #parent: WorkBudget | null;

  /** Each chunk also counts for `parent`. */
  constructor(chunks: number, parent: WorkBudget | null = null) {
    this.#left = chunks;
    this.#parent = parent;
  }

  get hasLeft(): boolean {
    return this.#left > 0 && this.#parent?.hasLeft !== false;
  }

  spend(): void {
    this.#left -= 1;
    this.#parent?.spend();
  }

  /** Runs `chunk` until it returns false, for no more work. Returns false when the budget was spent before. */
  async run(chunk: () => Promise<boolean>): Promise<boolean> {
    while (this.hasLeft) {
      this.spend();
      if (!(await chunk())) return true;
    }
    return false;
  }
}
