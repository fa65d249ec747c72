/** Work budgets: long work goes in chunks, and a later run continues once a run's budget is spent. */

/** Cloudflare's plan of the account, which bounds an invocation. */
export type Plan = "free" | "paid";

/** The platform's limits of one invocation, with some left for begun work. */
export interface CallBudget {
  /** Calls of any kind: the platform allows 10,000, and 50 on the free plan. */
  readonly calls: WorkBudget;
  /** Batches on D1: the platform allows 1,000, and 50 on the free plan. */
  readonly queries: WorkBudget;
}

const LIMITS = { paid: { calls: 8_000, queries: 800 }, free: { calls: 24, queries: 20 } };

/** The budget of one invocation on a plan, or one of several equal `shares` of it. */
export function newCallBudget(plan: Plan, shares = 1): CallBudget {
  const limits = LIMITS[plan];
  const calls = new WorkBudget(Math.ceil(limits.calls / shares));
  return { calls, queries: new WorkBudget(Math.ceil(limits.queries / shares), calls) };
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
