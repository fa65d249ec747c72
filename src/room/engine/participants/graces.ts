/** Who stays online without a socket for a moment, because the last one broke: in memory and in storage. */
import type { Grace, RoomStorage } from "../../storage/storage.ts";

export class Graces {
  readonly #storage: RoomStorage;
  readonly #byUser = new Map<string, Grace>();

  constructor(storage: RoomStorage) {
    this.#storage = storage;
  }

  /** Makes memory match the storage. */
  load(): void {
    this.#byUser.clear();
    for (const grace of this.#storage.graces.list()) this.#byUser.set(grace.userId, grace);
  }

  /** From now on these users are online without a socket. */
  begin(graces: readonly Grace[]): void {
    this.#storage.transaction(() => {
      for (const grace of graces) this.#storage.graces.put(grace);
    });
    for (const grace of graces) this.#byUser.set(grace.userId, grace);
  }

  /** The user has a socket again. False if the user had one all the time, or is not online. */
  end(userId: string): boolean {
    if (!this.#byUser.has(userId)) return false;
    this.#storage.graces.delete(userId);
    this.forget(userId);
    return true;
  }

  /** The storage has deleted the user's grace. */
  forget(userId: string): void {
    this.#byUser.delete(userId);
  }

  has(userId: string): boolean {
    return this.#byUser.has(userId);
  }

  /** Those whom REST keeps online, and what they show. */
  states(): [userId: string, state: NonNullable<Grace["state"]>][] {
    return [...this.#byUser.values()].flatMap(({ userId, state }) => (state ? [[userId, state]] : []));
  }

  users(): string[] {
    return [...this.#byUser.keys()];
  }

  /** The users whose grace has ended at `now` (epoch ms). */
  due(now: number): string[] {
    return [...this.#byUser.values()].flatMap(({ userId, endsAt }) => (endsAt <= now ? [userId] : []));
  }

  /** By when they left (epoch ms), the earliest first: `now` for those whose grace has not ended, or is not known. */
  byLeaving(userIds: Iterable<string>, now: number): [leftAt: number, userIds: string[]][] {
    const users = new Map<number, string[]>();
    for (const userId of userIds) {
      const leftAt = Math.min(this.#byUser.get(userId)?.leftAt ?? now, now);
      users.set(leftAt, [...(users.get(leftAt) ?? []), userId]);
    }
    return [...users].sort(([one], [other]) => one - other);
  }

  /** When the next one ends (epoch ms); null when no one is online without a socket. */
  get nextEnd(): number | null {
    let next: number | null = null;
    for (const { endsAt } of this.#byUser.values()) next = Math.min(next ?? endsAt, endsAt);
    return next;
  }
}
