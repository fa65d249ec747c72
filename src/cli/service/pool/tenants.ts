/** What each organization uses of the pool, and whose turn is next. */

/** Processor time counts half after this, so that an organization is not judged by yesterday's runs. */
const HALF_LIFE_MS = 10_000;
/** Below this an organization is as good as idle, and is forgotten. */
const NEGLIGIBLE_MS = 1;

interface Account {
  /** Leases in progress. */
  leases: number;
  /** Processor time used lately, as of `at`. */
  usedMs: number;
  at: number;
}

export class Tenants {
  readonly #now: () => number;
  readonly #accounts = new Map<string, Account>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A lease begins. */
  lend(accountId: string): void {
    this.#open(accountId).leases += 1;
  }

  /** A lease ends. */
  take(accountId: string): void {
    const account = this.#open(accountId);
    account.leases -= 1;
    if (account.leases <= 0 && account.usedMs < NEGLIGIBLE_MS) this.#accounts.delete(accountId);
  }

  /** The organization's programs used processor time. */
  use(accountId: string, cpuMs: number): void {
    this.#open(accountId).usedMs += Math.max(0, cpuMs);
  }

  /**
   * In which order those that wait take their turns: organizations alternate, the one with the fewest leases first,
   * and of these the one that used least processor time lately. Within an organization, first come, first served.
   */
  order<T>(waiting: readonly T[], accountOf: (item: T) => string): readonly T[] {
    const rounds = new Map<string, number>();
    const ranked = waiting.map((item) => {
      const accountId = accountOf(item);
      const round = rounds.get(accountId) ?? 0;
      rounds.set(accountId, round + 1);
      const account = this.#accounts.get(accountId);
      return { item, round: round + (account?.leases ?? 0), usedMs: account ? this.#usedBy(account) : 0 };
    });
    return ranked.sort((a, b) => a.round - b.round || a.usedMs - b.usedMs).map(({ item }) => item);
  }

  #open(accountId: string): Account {
    const account = this.#accounts.get(accountId) ?? { leases: 0, usedMs: 0, at: this.#now() };
    account.usedMs = this.#usedBy(account);
    account.at = this.#now();
    this.#accounts.set(accountId, account);
    return account;
  }

  #usedBy({ usedMs, at }: Account): number {
    return usedMs * 0.5 ** ((this.#now() - at) / HALF_LIFE_MS);
  }
}
