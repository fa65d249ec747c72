/** The users in memory who stay online without a socket for a moment. */
import { MemoryPart } from "./memory-part.ts";
import type { Grace, GraceTable } from "./storage.ts";

const byEnd = (one: Grace, other: Grace): number =>
  one.endsAt - other.endsAt || (one.userId < other.userId ? -1 : 1);

export class MemoryGraces extends MemoryPart<readonly Grace[]> implements GraceTable {
  constructor() {
    super([]);
  }

  put(grace: Grace): void {
    this.delete(grace.userId);
    this.state = [...this.state, grace].sort(byEnd);
  }

  delete(userId: string): void {
    this.state = this.state.filter((grace) => grace.userId !== userId);
  }

  list(): Grace[] {
    return [...this.state];
  }
}
