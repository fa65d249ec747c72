/** How a room closes the sockets of ended tokens: exactly those, in whatever order it learns of things. */

import { env } from "cloudflare:workers";
import { ALL_RIGHTS } from "@atrium/contract/resources/permissions.ts";
import { describe, expect, it } from "vitest";
import { Room } from "../../../../src/room/engine/room.ts";
import { roomPorts } from "../../support/room-ports.ts";
import { makeRoom, roomWithUsers, type TestRoom, type TestUser, tokens } from "../../support/rooms.ts";
import { ROOM, userRecord } from "../../support/rows.ts";
import { withStorage } from "../../support/with-storage.ts";

const endTokens = async ({ user }: TestUser): Promise<void> => {
  await env.DB.prepare("UPDATE users SET token_epoch = token_epoch + 1 WHERE id = ?").bind(user.id).run();
};
const endAllTokens = async ({ accountId }: TestRoom): Promise<void> => {
  await env.DB.prepare("UPDATE accounts SET token_epoch = token_epoch + 1 WHERE id = ?")
    .bind(accountId)
    .run();
};

/** The user's token once its tokens have been ended this often, by itself and by the organization. */
const tokenOf = async ({ user }: TestUser, tokenEpoch: number, accountTokenEpoch = 0): Promise<TestUser> => ({
  user,
  token: await tokens.sign({ ...user, tokenEpoch, accountTokenEpoch, identityId: null, identityEpoch: null }),
});

describe("when tokens are ended (R64),", () => {
  it("a token that is being verified does not get in", async () => {
    const { room, ada } = await roomWithUsers();
    const socket = await room.joinWhile(ada.token, async (object) => {
      await endTokens(ada);
      await object.apply(room.accountId, { type: "tokens.ended", userId: ada.user.id });
    });
    expect(await socket.closed).toMatchObject({ code: 4401 });
    expect(await room.online(ada)).toEqual([]);
  });

  it("a decision that is older lets no one in, even when their ending is complete before it", () =>
    withStorage(({ storage }) => {
      const room = new Room(roomPorts({ storage, graceMs: 10_000 }));
      const user = userRecord("ada");
      room.open("socket", "192.0.2.1");
      const join = JSON.stringify({ type: "JOIN_ROOM", data: { token: "of an earlier epoch" } });
      expect(room.messages.receive("socket", join)).toMatchObject([{ type: "authorizeJoin" }]);
      room.commands.apply({ type: "tokens.ended", userId: user.id });
      expect(room.commands.endTokens(user.id, { account: 0, user: 1 })).toEqual([]);
      const rights = { rights: ALL_RIGHTS, ceiling: ALL_RIGHTS };
      const approval = { approved: true, room: ROOM, user, ...rights, tokenExpiresAt: 1 } as const;
      expect(room.handshake.complete("socket", approval)).toMatchObject([{ type: "authorizeJoin" }]);
    }));

  it("a socket of the new token survives the command, however late and often it comes", async () => {
    const { room, ada } = await roomWithUsers();
    const before = await room.join(ada);
    await endTokens(ada);
    const after = await room.join(await tokenOf(ada, 1));
    for (const userId of [ada.user.id, ada.user.id, null]) await room.apply({ type: "tokens.ended", userId });
    expect(await before.closed).toMatchObject({ code: 4401 });
    expect(await after.request("ROOM_GET")).toMatchObject({ success: true });
    expect(await room.online(ada)).toEqual([ada.user.id]);
  });

  it("sockets are still known by their tokens after hibernation", async () => {
    const { room, ada } = await roomWithUsers();
    await endTokens(ada);
    const socket = await room.join(await tokenOf(ada, 1));
    await room.hibernate();
    await room.apply({ type: "tokens.ended", userId: ada.user.id });
    expect(await socket.request("ROOM_GET")).toMatchObject({ success: true });
    await endTokens(ada);
    await room.apply({ type: "tokens.ended", userId: ada.user.id });
    expect(await socket.closed).toMatchObject({ code: 4401 });
  });

  it("a room that missed the organization's ending learns of it when it next copies its stats", async () => {
    const room = await makeRoom();
    const [ada, bob] = [await room.user(), await room.user()];
    const socket = await room.join(ada);
    await endAllTokens(room);
    const later = await room.join(await tokenOf(bob, 0, 1));
    await room.alarm();
    expect(await socket.closed).toMatchObject({ code: 4401 });
    await later.drain();
    expect(await later.request("ROOM_GET")).toMatchObject({ success: true });
  });
});
