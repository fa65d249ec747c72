/** Numbers that stand for the users of a room in its presence: what is sent most often is short (R86). */

/** In memory only: after hibernation users are introduced again, with other numbers. */
export class UserNumbers {
  readonly #byUser = new Map<string, number>();
  /** Users whose number everyone has who takes numbers. */
  readonly #introduced = new Set<string>();
  /** Numbers of users who are gone, which go to the next ones: so all stay small. */
  readonly #free: number[] = [];

  /** The user's number until it is released. */
  of(userId: string): number {
    const known = this.#byUser.get(userId);
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.#byUser.size;
    this.#byUser.set(userId, number);
    return number;
  }

  /** Whether the number may stand for the user. */
  isIntroduced(userId: string): boolean {
    return this.#introduced.has(userId);
  }

  /** Everyone who takes numbers was sent those of these users. */
  introduce(userIds: Iterable<string>): void {
    for (const userId of userIds) if (this.#byUser.has(userId)) this.#introduced.add(userId);
  }

  /** The user has to be introduced again. */
  release(userId: string): void {
    const number = this.#byUser.get(userId);
    if (number === undefined) return;
    this.#byUser.delete(userId);
    this.#introduced.delete(userId);
    this.#free.push(number);
  }
}
