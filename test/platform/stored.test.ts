/** Records that an earlier version has stored as JSON. */

import { parseSettings } from "@atrium/contract/resources/notification-settings.ts";
import { parseRoom, presentRoom } from "@atrium/contract/resources/room.ts";
import { expect, it } from "vitest";
import { ROOM } from "../room/support/rows.ts";

it("a stored record has null where it lacks a field, and keeps what it has", () => {
  const { customId: _, firstJoinAt: __, ...before } = ROOM;
  expect(parseRoom(JSON.stringify(before))).toEqual(ROOM);
  expect(presentRoom(parseRoom(JSON.stringify(before)), 0)).not.toHaveProperty("custom_id");
  expect(parseRoom(JSON.stringify({ ...ROOM, customId: "plan" })).customId).toBe("plan");
});

it("stored settings want all of a channel that they do not know", () => {
  const email = { enabled: false, kinds: {}, rooms: {} };
  expect(parseSettings(JSON.stringify({ email }))).toEqual({
    email,
    webPush: { enabled: true, kinds: {}, rooms: {} },
  });
});
