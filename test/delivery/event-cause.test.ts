/** How deep in a chain of workflows an event is, by its JSON. */
import { expect, it } from "vitest";
import { depthOf, presentEvent } from "../../src/wire/events.ts";
import { presentRoom } from "../../src/wire/room.ts";
import { ROOM } from "../room/support/rows.ts";

const room = presentRoom(ROOM, 0, { activeParticipants: 0, occupiedMs: 0, occupiedSince: null });
const draft = { event: "room.updated", data: { roomId: room.id }, room } as const;

it("is the event's own field, and no field of what users wrote", () => {
  const workflowId = crypto.randomUUID();
  expect(depthOf(presentEvent("id", 0, draft, { workflowId, depth: 3 }))).toBe(3);
  expect(depthOf(presentEvent("id", 0, draft))).toBe(0);
  expect(depthOf('{"comment":{"anchor":{"depth":9}}}')).toBe(0);
  expect(depthOf('{"depth":"9"}')).toBe(0);
});
