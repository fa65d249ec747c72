/** The turns that lanes take: who is next is found without passing over the lanes in flight. */
import type { WaitingJobs } from "./waiting-jobs.ts";

/** So many lanes are remembered with their turns. Beyond it, lanes take turns in the order of their names. */
const MAX_TURNS = 500;

export class Turns {
  readonly #waiting: WaitingJobs;
  readonly #max: number;
  /** In the order of their turns. */
  readonly #lanes = new Set<string>();
  /**
   * When these turns are over, lanes behind this one are read from storage. Null when all were read: of each lane with
   * pending first attempts, one then has a turn, is in flight, or is over and not recorded.
   */
  #unreadAfter: string | null = "";

  /** Tests remember fewer. */
  constructor(waiting: WaitingJobs, max = MAX_TURNS) {
    this.#waiting = waiting;
    this.#max = max;
    waiting.onAdded = (lane) => this.give(lane);
  }

  /** The lane may have a first attempt that can start. While lanes are to be read, this one is among them. */
  give(lane: string): void {
    if (this.#unreadAfter !== null) return;
    this.#lanes.add(lane);
    if (this.#lanes.size > this.#max) this.#unreadAfter = "";
  }

  /** The lane has had its turn, or has no use for it. */
  end(lane: string): void {
    this.#lanes.delete(lane);
  }

  clear(): void {
    this.#lanes.clear();
    this.#unreadAfter = "";
  }

  /** The lanes in the order of their turns, each once. Of those in storage, at most `hidden` have nothing that can start. */
  *inOrder(hidden: number): Generator<string> {
    const met = new Set<string>();
    do {
      for (const lane of this.#lanes) {
        if (met.has(lane)) continue;
        met.add(lane);
        yield lane;
      }
    } while (this.#read(hidden));
  }

  /** Gives turns to further lanes in storage; false when all were read. It asks for more than are hidden or known. */
  #read(hidden: number): boolean {
    if (this.#unreadAfter === null) return false;
    const limit = this.#max + hidden + this.#lanes.size;
    const lanes = this.#waiting.lanesAfter(this.#unreadAfter, limit);
    for (const lane of lanes) this.#lanes.add(lane);
    if (lanes.length === limit) this.#unreadAfter = lanes.at(-1) ?? null;
    else this.#unreadAfter = this.#unreadAfter === "" ? null : "";
    return true;
  }
}
