/** Records `store.changed`: one event for all changes of a store within an interval, while a subscriber listens to it. */
import { presentEvent } from "../../delivery/events.ts";
import { presentRoom } from "../../rooms/schema.ts";
import type { RoomRow } from "../../rooms/table.ts";
import type { EventPorts } from "./event-ports.ts";

/** Each store has at most one event in this time. */
export const STORE_EVENT_INTERVAL_MS = 5_000;
/** While no subscriber listens, the room looks for one so rarely: the first event of a new one may be so late. */
export const UNHEARD_INTERVAL_MS = 60_000;

export class StoreEvents {
  readonly #ports: EventPorts;
  /** When the changes so far are to be reported (epoch ms); null while there are none. */
  #dueAt: number | null;
  #notBefore = Number.NEGATIVE_INFINITY;
  #hasNews = false;
  /** Of a room that only REST has used: kept with the first change, because an alarm does not say which room it is. */
  #row: RoomRow | null = null;

  constructor(ports: EventPorts) {
    this.#ports = ports;
    // What an earlier life of the object has noted is due at once.
    this.#dueAt = ports.storage.changedStores.list().length > 0 ? ports.now() : null;
  }

  /** The row of a room that no one has joined, as just read. */
  offerRow(row: RoomRow): void {
    this.#row = row;
  }

  /** Notes stores that have changed since `fromSeq`, in the transaction that changes them. */
  note(stores: Iterable<string>, fromSeq: number): void {
    const { storage, now } = this.#ports;
    for (const store of stores) {
      storage.changedStores.note({ store, fromSeq });
      if (this.#dueAt !== null) continue;
      this.#dueAt = Math.max(now() + STORE_EVENT_INTERVAL_MS, this.#notBefore);
      this.#hasNews = true;
    }
    if (this.#row === null || this.#dueAt === null) return;
    if (storage.occupancy.readRoom() === null) storage.occupancy.writeRoom(this.#row);
    this.#row = null; // should this transaction fail, it is offered again
  }

  /** True once after changes have become due, so that the alarm can be planned. */
  takeNews(): boolean {
    const hadNews = this.#hasNews;
    this.#hasNews = false;
    return hadNews;
  }

  /** When to call {@link report} (epoch ms); null while no store has changed. */
  dueAt(): number | null {
    return this.#dueAt;
  }

  /**
   * Records what is due if a subscriber listens, and drops it if none does. Rejects when `isHeard` or `prepare`, which
   * brings the row of a room that no one has joined, fails: then all of it is due again after an interval.
   */
  async report(isHeard: () => Promise<boolean>, prepare: () => Promise<void>): Promise<void> {
    const { storage, now } = this.#ports;
    if (this.#dueAt === null || this.#dueAt > now()) return;
    this.#waitFor(STORE_EVENT_INTERVAL_MS);
    const seq = storage.changes.lastSeq();
    if (await isHeard()) {
      await prepare();
      this.#record();
      return;
    }
    this.#waitFor(UNHEARD_INTERVAL_MS);
    // What has changed meanwhile may have done so after a subscriber began to listen.
    if (storage.changes.lastSeq() === seq) this.#forget();
  }

  /** Nothing is reported before this time from now. */
  #waitFor(ms: number): void {
    this.#notBefore = this.#ports.now() + ms;
    this.#dueAt = this.#notBefore;
  }

  #record(): void {
    const { storage } = this.#ports;
    storage.transaction(() => {
      for (const { store, fromSeq } of storage.changedStores.list()) this.#append(store, fromSeq);
      this.#forget();
    });
  }

  #append(store: string, fromSeq: number): void {
    const { storage, now, newId, stats } = this.#ports;
    const row = storage.occupancy.readRoom();
    if (row === null) return; // the room was deleted meanwhile
    const [id, occurredAt, toSeq] = [newId(), now(), storage.changes.lastSeq()];
    const body = presentEvent(id, occurredAt, {
      event: "store.changed",
      data: { roomId: row.id, store, fromSeq, toSeq },
      room: presentRoom(row, occurredAt, stats()),
    });
    storage.events.append({ id, event: "store.changed", occurredAt, body });
  }

  /** The room is erased: nothing of it is due any more. */
  reset(): void {
    this.#dueAt = null;
    this.#hasNews = false;
    this.#row = null;
  }

  #forget(): void {
    if (this.#ports.storage.changedStores.list().length > 0) this.#ports.storage.changedStores.clear();
    this.#dueAt = null;
  }
}
