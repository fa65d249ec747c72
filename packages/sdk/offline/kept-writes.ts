/** The unanswered writes of a client: its own, and the recovered ones. */
import type { Replica } from "../client/stores/replica.ts";
import type { KeptBatch, QueuedWrite } from "../client/stores/waiting-writes.ts";
import { getOrAdd } from "../core/emitter.ts";
import { newId } from "../core/runtime.ts";
import type { KeptWrite, KeptWriteId } from "./storage.ts";

/** The room recognizes request ids for 24 h: an older batch might run twice. */
const MAX_BATCH_AGE_MS = 23 * 3_600_000;

interface Tracked extends Pick<KeptWrite, "group" | "origin"> {
  readonly id: KeptWriteId;
  batch: KeptWrite["batch"];
}

interface Recovered {
  readonly batches: readonly KeptBatch[];
  readonly waiting: readonly QueuedWrite[];
  readonly expired: readonly KeptWrite[];
}

export class KeptWrites {
  readonly writer = newId();
  readonly #tracked = new Map<QueuedWrite, Tracked>();
  readonly #groups = new Map<object, number>();
  readonly #changed = new Set<QueuedWrite>();
  #settled: KeptWriteId[] = [];
  /** The former ids of recovered writes, until the next change is stored. */
  readonly #former: KeptWriteId[] = [];
  #count = 0;
  /** The number of the earliest write: recovered ones are sent before all others. */
  #first = 1;

  get ids(): KeptWriteId[] {
    return [...this.#former, ...[...this.#tracked.values()].map(({ id }) => id)];
  }

  queued(write: QueuedWrite): void {
    if (!this.#tracked.has(write)) {
      this.#count += 1;
      const id = { writer: this.writer, number: this.#count };
      this.#track(write, { id, batch: null });
    }
    this.#changed.add(write);
  }

  #track(write: QueuedWrite, tracked: Omit<Tracked, "group">): void {
    const { group } = write;
    if (group && !this.#groups.has(group)) this.#groups.set(group, tracked.id.number);
    this.#tracked.set(write, { ...tracked, group: (group && this.#groups.get(group)) ?? null });
  }

  sealed({ requestId, writes }: KeptBatch, at: number): void {
    for (const write of writes) {
      const tracked = this.#tracked.get(write);
      if (tracked === undefined) continue;
      tracked.batch = { requestId, at };
      this.#changed.add(write);
    }
  }

  /** Returns whether another client made the write, whose promise is gone. */
  settled(write: QueuedWrite): boolean {
    const tracked = this.#tracked.get(write);
    if (tracked === undefined) return false;
    this.#tracked.delete(write);
    this.#changed.delete(write);
    this.#settled.push(tracked.id);
    return tracked.origin !== undefined;
  }

  take(): { readonly writes: readonly KeptWrite[]; readonly settled: readonly KeptWriteId[] } {
    const writes = [...this.#changed].flatMap((write) => this.#describe(write));
    const settled = this.#settled;
    this.#changed.clear();
    this.#settled = [];
    return { writes, settled };
  }

  #describe(write: QueuedWrite): KeptWrite | [] {
    const tracked = this.#tracked.get(write);
    if (tracked === undefined) return [];
    const { key, action, value, ifVersion, target } = write;
    const { id, group, batch, origin } = tracked;
    return { ...id, store: target.name, key, action, value, ifVersion, group, batch, origin };
  }

  /** Continues with kept writes, in their order, as own ones; batches are sent again as they are. `now` is in epoch ms. */
  recover(kept: readonly KeptWrite[], replicaOf: (store: string) => Replica, now: number): Recovered {
    const batches = new Map<string, QueuedWrite[]>();
    const waiting: QueuedWrite[] = [];
    const expired: KeptWrite[] = [];
    const groups = new Map<number, object>();
    this.#first -= kept.length;
    for (const [index, each] of kept.entries()) {
      const { writer, number, batch } = each;
      this.#settled.push({ writer, number });
      this.#former.push({ writer, number });
      if (batch !== null && now - batch.at > MAX_BATCH_AGE_MS) {
        expired.push(each);
        continue;
      }
      const group = each.group === null ? null : getOrAdd<number, object>(groups, each.group, () => ({}));
      const write = replicaOf(each.store).newWrite(each, group);
      const id = { writer: this.writer, number: this.#first + index };
      this.#track(write, { id, batch, origin: each.origin ?? { writer, number } });
      this.#changed.add(write);
      if (batch === null) waiting.push(write);
      else getOrAdd<string, QueuedWrite[]>(batches, batch.requestId, () => []).push(write);
    }
    return {
      batches: [...batches].map(([requestId, writes]) => ({ requestId, writes })),
      waiting,
      expired,
    };
  }
}
