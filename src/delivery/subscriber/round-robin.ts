/** Round robin over the lanes of a queue: the next lane is found without passing over those in flight. */

/** A delivery that is pending: waiting or in flight. */
export type Job = {
  readonly seq: number;
  /** The ordering key: first attempts of one lane run one at a time, in the order of `seq`. */
  readonly lane: string;
  /** The number of attempts so far. */
  readonly attempts: number;
  /** When a retry may start (epoch ms); a first attempt is due at once, from when it was enqueued. */
  readonly dueAt: number;
};

/** The deliveries in storage that are pending. Each question reads a bounded number of rows. */
export interface WaitingJobs {
  /** Called with the lane of each delivery that is added. Its transaction may still be rolled back. */
  onAdded: (lane: string) => void;
  /** The next lanes behind this one, by name, in which a first attempt is pending: at most this many. */
  lanesAfter(lane: string, limit: number): string[];
  /** The lane's earliest first attempt behind this number; null when there is none. */
  firstOf(lane: string, afterSeq: number): Job | null;
  /** The retries that are due first, at most this many. */
  retries(limit: number): Job[];
}

/** Lanes in memory, in the order of their turns. Further lanes take turns in the order of their names. */
const MAX_TURNS = 500;

export class RoundRobin {
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
