/** Bugs in the deletion of rooms, which goes in chunks. */
import type { Mutant } from "./mutant.ts";

const DELETION = ["test/rooms/deletion.test.ts"];

export const ROOMS: readonly Mutant[] = [
  {
    bug: "users of a deleted room are found until their rows are removed",
    file: "src/features/rooms/shared-store.ts",
    code: `rooms.id = \${roomId} AND \${isLive})\`;`,
    by: `rooms.id = \${roomId})\`;`,
    tests: DELETION,
  },
  {
    bug: "a deleted room holds its custom ID until its rows are removed",
    file: "src/features/rooms/purge-store.ts",
    code: "custom_id = NULL, ",
    by: "",
    tests: DELETION,
  },
  {
    bug: "a deleted room is deleted again, with another event",
    file: "src/delivery/outbox/event-store.ts",
    code: " AND rooms.deleted_at IS NULL\n",
    by: "\n",
    tests: DELETION,
  },
  {
    bug: "the request of a deletion removes all users of the room",
    file: "src/features/rooms/purge.ts",
    code: "const ROWS_AT_ONCE = MAX_DELETED;",
    by: "const ROWS_AT_ONCE = 100 * MAX_DELETED;",
    tests: DELETION,
  },
  {
    bug: "the row of a deleted room goes before its users, whom a cascade removes",
    file: "src/features/rooms/purge-store.ts",
    code: "AND NOT EXISTS (SELECT 1 FROM users WHERE account_id = rooms.account_id AND room_id = rooms.id)",
    by: "",
    tests: DELETION,
  },
  {
    bug: "a large deleted room takes all chunks of a run",
    file: "src/features/rooms/purge.ts",
    code: "new WorkBudget(CHUNKS_PER_ROOM, budget)",
    by: "budget",
    tests: DELETION,
  },
  {
    bug: "a deleted room that cannot be removed holds up all that were deleted after it",
    file: "src/features/rooms/purge.ts",
    code: "await purge.catch((error: unknown) => (isFenced(error) ? undefined : failures.push(error)));",
    by: "await purge;",
    tests: DELETION,
  },
  {
    bug: "a room that was asked for while it was deleted stays deleted for its object",
    file: "src/room/engine/room-updates.ts",
    code: "if (revision === this.#revision && !this.isUsed) this.#isDeleted = false;",
    by: "",
    tests: ["test/bugs/stale-changes.test.ts"],
  },
];
