/** Work budgets: long work goes in chunks, and a later run continues once a run's budget is spent. */

/** The platform's limits of one invocation, with some left for begun work. */
export interface CallBudget {
  /** Calls of any kind: the platform allows 10,000. */
  readonly calls: WorkBudget;
  readonly queries: WorkBudget;
}

const MAX_CALLS = 8_000;
const MAX_QUERIES = 800;

export function newCallBudget(shares = 1): CallBudget {
  const calls = new WorkBudget(MAX_CALLS / shares);
  return { calls, queries: new WorkBudget(MAX_QUERIES / shares, calls) };
}

export class WorkBudget {
  #left: number;
  readonly #parent: WorkBudget | null;

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

  /** Runs `chunk` until it returns false, as no work is left. Returns false when the budget was spent before. */
  async run(chunk: () => Promise<boolean>): Promise<boolean> {
    while (this.hasLeft) {
      this.spend();
      if (!(await chunk())) return true;
    }
    return false;
  }
}
