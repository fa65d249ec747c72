/** The recorder of store events over a storage, without the rest of the room. */

import { StoreEvents } from "../../../src/room/engine/outbox/delayed-events.ts";
import type { RoomStorage } from "../../../src/room/storage/storage.ts";
import type { EventCause } from "../../../src/wire/events.ts";

export const storeEventsOf = (
  storage: RoomStorage,
  now: () => number = () => 0,
  cause: () => EventCause | null = () => null,
): StoreEvents =>
  new StoreEvents({
    storage,
    now,
    newId: () => crypto.randomUUID(),
    cause,
    stats: () => ({ activeParticipants: 0, occupiedMs: 0, occupiedSince: null }),
  });
