/** Bugs in which one member made every join of everyone expensive. */
import { describe, expect, it } from "vitest";
import { failed, makeRoom, roomOfTwo } from "../room/support/rooms.ts";

describe("following", () => {
  // A viewer followed 1,000 invented ids: every join of everyone answered a megabyte more, for good.
  it("a user who does not exist is NOT_FOUND (R55)", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    const away = await room.user();
    expect(await atAda.call("USER_FOLLOW", { userId: "x".repeat(255) })).toEqual(
      failed("NOT_FOUND", "Users"),
    );
    expect((await atAda.call("USER_UNFOLLOW", { userId: "unknown" })).success).toBe(true);
    expect((await atAda.call("USER_FOLLOW", { userId: away.user.id })).success).toBe(true);
    expect((await room.join(ada)).joined.follows).toEqual({ [ada.user.id]: [away.user.id] });
    expect(await atBen.takeEvents()).toMatchObject([{ event: "userFollowed", seq: 1 }]);
  });

  it("and unfollowing a user who has never joined happen in the order of the requests", async () => {
    const { room, ada, atAda } = await roomOfTwo();
    const userId = (await room.user()).user.id;
    const types = ["USER_FOLLOW", "USER_UNFOLLOW", "USER_FOLLOW", "USER_UNFOLLOW"];
    for (const type of types) atAda.send({ type, data: { userId } });
    for (let responses = 0; responses < types.length; )
      if ((await atAda.next()).type === "response") responses += 1;
    expect((await room.join(ada)).joined.follows).toEqual({});
  });

  // A follow that was being checked against the database outlived the deletion of its user.
  it("a user who is deleted meanwhile is NOT_FOUND", async () => {
    const { room, ada, atAda } = await roomOfTwo();
    const away = await room.user();
    await room.apply({ type: "user.deleted", userId: away.user.id });
    expect(await atAda.call("USER_FOLLOW", { userId: away.user.id })).toEqual(failed("NOT_FOUND", "Users"));
    expect((await room.join(ada)).joined.follows).toEqual({});
  });

  it("that earlier versions stored for ids that no user has is forgotten when someone joins", async () => {
    const { room, ada, ben, atAda } = await roomOfTwo();
    await atAda.call("USER_FOLLOW", { userId: ben.user.id });
    await room.inside((_, { storage }) => {
      for (let index = 0; index < 1_000; index += 1)
        storage.sql.exec(
          "INSERT INTO follows (follower, followed) VALUES (?, ?)",
          ada.user.id,
          `invented${index}`,
        );
    });
    await room.hibernate();
    await room.join(ben);
    await expect
      .poll(async () => (await room.join(ben)).joined.follows)
      .toEqual({ [ada.user.id]: [ben.user.id] });
  });
});

it("what a join answers of follows and presence stays below 64 KiB in a crowded room (R11)", async () => {
  const room = await makeRoom();
  const ada = await room.user();
  const atAda = await room.join(ada);
  for (let index = 0; index < 8; index += 1) {
    const socket = await room.join(await room.user());
    await socket.call("PRESENCE_UPDATE", { state: { text: "x".repeat(8_000) } });
    socket.events.length = 0;
  }
  await atAda.call("USER_FOLLOW", { userId: (await room.user()).user.id });
  await room.inside((_, { storage }) => {
    for (let index = 0; index < 3_000; index += 1)
      storage.sql.exec(
        "INSERT INTO follows (follower, followed) VALUES (?, ?)",
        crypto.randomUUID(),
        ada.user.id,
      );
  });
  const { follows, presence } = (await room.join(ada)).joined;
  expect(JSON.stringify(follows).length + JSON.stringify(presence).length).toBeLessThan(64 * 1024);
  expect(Object.keys(follows).length).toBeGreaterThan(200);
  expect(Object.keys(follows)[0]).toBe(ada.user.id);
  expect(Object.keys(presence).length).toBe(4);
});
