/** Waiting work in one lane per user. Lanes take turns, so that a user with much of it delays no one else. */

export class FairLanes<Item> {
  /** No lane is empty. The first one is next. */
  readonly #lanes = new Map<string, Item[]>();

  add(user: string, item: Item): void {
    const lane = this.#lanes.get(user);
    if (lane === undefined) this.#lanes.set(user, [item]);
    else lane.push(item);
  }

  /** Takes the oldest item of the lane whose turn it is; undefined when nothing waits. */
  take(): Item | undefined {
    const [next] = this.#lanes;
    if (next === undefined) return undefined;
    const [user, lane] = next;
    const item = lane.shift();
    this.#lanes.delete(user);
    if (lane.length > 0) this.#lanes.set(user, lane); // at the end: the others come first
    return item;
  }

  /** Takes all items that match, whatever their lanes. */
  takeAll(matches: (item: Item) => boolean): Item[] {
    const taken: Item[] = [];
    for (const [user, lane] of this.#lanes) {
      const left = lane.filter((item) => !matches(item));
      if (left.length === lane.length) continue;
      taken.push(...lane.filter(matches));
      if (left.length === 0) this.#lanes.delete(user);
      else this.#lanes.set(user, left);
    }
    return taken;
  }

  /** How many items of a user wait. */
  sizeOf(user: string): number {
    return this.#lanes.get(user)?.length ?? 0;
  }
}
