/** The recorder of store events over a storage, without the rest of the room. */
import { StoreEvents } from "../../../src/realtime/outbox/store-events.ts";
import type { RoomStorage } from "../../../src/realtime/storage/storage.ts";

export const storeEventsOf = (storage: RoomStorage, now: () => number = () => 0): StoreEvents =>
  new StoreEvents({
    storage,
    now,
    newId: () => crypto.randomUUID(),
    stats: () => ({ activeParticipants: 0, occupiedMs: 0, occupiedSince: null }),
  });
