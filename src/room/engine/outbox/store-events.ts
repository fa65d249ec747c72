/** Records `store.changed`: one event for all changes of a store within an interval, while a subscriber listens to it. */
import { presentEvent } from "../../../wire/events.ts";
import { presentRoom, type RoomFields } from "../../../wire/room.ts";
import type { ChangedStore } from "../../storage/storage-outbox.ts";
import { DelayedEvents, type NotedEvents } from "./delayed-events.ts";
import type { EventPorts } from "./event-ports.ts";

/** Each store has at most one event in this time. */
export const STORE_EVENT_INTERVAL_MS = 5_000;

export class StoreEvents extends DelayedEvents {
  readonly #ports: EventPorts;

  constructor(ports: EventPorts) {
    super(ports, new NotedStores(ports));
    this.#ports = ports;
  }

  /** Notes stores that have changed since `fromSeq`, in the transaction that changes them. */
  note(stores: Iterable<string>, fromSeq: number): void {
    const { changedStores } = this.#ports.storage;
    const cause = this.#ports.cause();
    for (const store of stores) {
      changedStores.note({ store, fromSeq, cause });
      this.noted();
    }
  }
}

class NotedStores implements NotedEvents {
  readonly events = ["store.changed"] as const;
  readonly intervalMs = STORE_EVENT_INTERVAL_MS;
  readonly #ports: EventPorts;

  constructor(ports: EventPorts) {
    this.#ports = ports;
  }

  hasNotes(): boolean {
    return this.#ports.storage.changedStores.list().length > 0;
  }

  progress(): number {
    return this.#ports.storage.changes.lastSeq();
  }

  record(_: unknown, room: RoomFields): void {
    for (const changed of this.#ports.storage.changedStores.list()) this.#append(changed, room);
    this.forget();
  }

  #append({ store, fromSeq, cause }: ChangedStore, row: RoomFields): void {
    const { storage, now, newId, stats } = this.#ports;
    const [id, occurredAt, toSeq] = [newId(), now(), storage.changes.lastSeq()];
    const event = "store.changed";
    const data = { roomId: row.id, store, fromSeq, toSeq };
    const body = presentEvent(
      id,
      occurredAt,
      { event, data, room: presentRoom(row, occurredAt, stats()) },
      cause,
    );
    storage.events.append({ id, event, occurredAt, body });
  }

  forget(): void {
    if (this.hasNotes()) this.#ports.storage.changedStores.clear();
  }
}
