/** The leases and the recent processor time of each organization, which order those that wait. */

/** Processor time counts half after this, so that an organization is not judged by yesterday's runs. */
const HALF_LIFE_MS = 10_000;
/** An organization below this is forgotten. */
const NEGLIGIBLE_MS = 1;

interface Account {
  leases: number;
  usedMs: number;
  at: number;
}

export class OrganizationUsage {
  readonly #now: () => number;
  readonly #accounts = new Map<string, Account>();

  constructor(now: () => number) {
    this.#now = now;
  }

  lend(accountId: string): void {
    this.#open(accountId).leases += 1;
  }

  take(accountId: string): void {
    const account = this.#open(accountId);
    account.leases -= 1;
    if (account.leases <= 0 && account.usedMs < NEGLIGIBLE_MS) this.#accounts.delete(accountId);
  }

  use(accountId: string, cpuMs: number): void {
    this.#open(accountId).usedMs += Math.max(0, cpuMs);
  }

  /** Organizations alternate: the fewest leases first, then the least recent processor time; within one, first come first served. */
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
