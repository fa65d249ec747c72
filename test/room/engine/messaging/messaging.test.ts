/** R53 to R57: broadcasts, following, and reads of the room and its users. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { roomGateway } from "../../../../src/room/host/gateway.ts";
import { whileTableFails } from "../../../support/database-failure.ts";
import { expectLogged } from "../../../support/log-guard.ts";
import { failed, roomOfTwo } from "../../support/rooms.ts";

describe("a broadcast", () => {
  it("reaches all others, including the sender's other tabs (R53)", async () => {
    const { room, ada, atAda, atBen } = await roomOfTwo();
    const second = await room.join(ada);
    expect((await atAda.call("BROADCAST", { event: "ping", data: [1] })).data).toEqual({ delivered: 2 });
    const broadcast = {
      type: "event",
      event: "broadcast",
      data: { event: "ping", data: [1], from: ada.user.id },
    };
    expect(await atBen.takeEvents()).toEqual([broadcast]);
    expect(await second.takeEvents()).toEqual([broadcast]);
    expect(await atAda.takeEvents()).toEqual([]);
    atAda.send({ type: "BROADCAST", data: { event: "quiet" } });
    expect(await atBen.nextEvent()).toMatchObject({ data: { event: "quiet", data: null } });
    expect(await atAda.drain()).toEqual([]);
  });

  it("reaches the named users who are online (R53)", async () => {
    const { room, ben, atAda, atBen } = await roomOfTwo();
    const atCy = await room.join(await room.user());
    const userIds = [ben.user.id, ben.user.id, "unknown"];
    expect((await atAda.call("BROADCAST", { event: "e", userIds })).data).toEqual({ delivered: 1 });
    expect((await atAda.call("BROADCAST", { event: "e", userIds: [] })).data).toEqual({ delivered: 0 });
    expect(await atBen.takeEvents()).toMatchObject([{ event: "userJoined" }, { event: "broadcast" }]);
    expect(await atCy.takeEvents()).toEqual([]);
  });

  it("has limits (R54)", async () => {
    const { atAda } = await roomOfTwo();
    for (const fields of [
      { event: "" },
      { event: "x".repeat(129) },
      { data: "x".repeat(65_535) },
      { userIds: Array.from({ length: 1_001 }, () => "u") },
    ])
      expect(await atAda.call("BROADCAST", { event: "e", ...fields })).toEqual(failed("VALIDATION_ERROR"));
  });
});

it("following is sent to everyone, survives reloads, and ends with its users (R11, R55)", async () => {
  const { room, ada, ben, atAda, atBen } = await roomOfTwo();
  await atAda.call("USER_FOLLOW", { userId: ben.user.id });
  await atAda.call("USER_FOLLOW", { userId: ben.user.id });
  const relation = { userId: ben.user.id, followerId: ada.user.id };
  expect(await atBen.takeEvents()).toMatchObject([{ seq: 1, event: "userFollowed", data: relation }]);
  await room.hibernate();
  const again = await room.join(ada);
  expect(again.joined.follows).toEqual({ [ada.user.id]: [ben.user.id] });
  await again.call("USER_UNFOLLOW", { userId: ben.user.id });
  await again.call("USER_UNFOLLOW", { userId: ben.user.id });
  expect(await atBen.takeEvents()).toMatchObject([{ seq: 2, event: "userUnfollowed", data: relation }]);
  await again.call("USER_FOLLOW", { userId: ben.user.id });
  await room.apply({ type: "user.deleted", userId: ben.user.id });
  expect((await room.join(ada)).joined.follows).toEqual({});
  expect(await again.call("USER_FOLLOW", { userId: ada.user.id })).toEqual(failed("BAD_REQUEST"));
  const others = await Promise.all(Array.from({ length: 101 }, () => room.user()));
  const answers: boolean[] = [];
  for (const { user } of others) answers.push((await again.call("USER_FOLLOW", { userId: user.id })).success);
  expect(answers).toEqual(others.map((_, index) => index < 100));
  expect(await again.call("USER_FOLLOW", { userId: others[100]?.user.id })).toEqual(failed("CONFLICT"));
});

describe("the room and its users", () => {
  it("are read from the database (R56)", async () => {
    const { room, ada, ben, atAda } = await roomOfTwo();
    const away = await room.user({ name: "Away" });
    expect((await atAda.call("ROOM_GET")).data).toMatchObject({
      room: { id: room.id, active_participants: 2 },
    });
    const { users, ...rest } = (await atAda.call("USERS_GET")).data;
    expect(rest).toEqual({ total: 3, follows: {}, seq: 0 });
    const statuses = (users as { id: string; status: string }[]).map(({ id, status }) => [id, status]);
    expect(new Map(statuses as [string, string][])).toEqual(
      new Map([
        [ada.user.id, "online"],
        [ben.user.id, "online"],
        [away.user.id, "offline"],
      ]),
    );
    expect((await atAda.call("USERS_GET", { limit: 1, offset: 3 })).data).toMatchObject({
      users: [],
      total: 3,
    });
    const listed = users as { id: string; created_at: string }[];
    const after = { id: listed[1]?.id, created_at: listed[1]?.created_at };
    expect((await atAda.call("USERS_GET", { after })).data).toMatchObject({
      users: listed.slice(2),
      total: 3,
    });
    const userIds = [away.user.id, ada.user.id, "someone-else", away.user.id];
    const named = (await atAda.call("USERS_GET", { userIds })).data;
    expect(named).toMatchObject({ total: 2, seq: 0 });
    const isNamed = ({ id }: { readonly id: string }) => userIds.includes(id);
    expect(named.users).toEqual(listed.filter(isNamed));
    expect((await atAda.call("USERS_GET", { userIds: [] })).data).toMatchObject({ users: [], total: 0 });
    const many = Array.from({ length: 101 }, (_, index) => `${index}`);
    expect(await atAda.call("USERS_GET", { userIds: many })).toEqual(failed("VALIDATION_ERROR"));
    expect(await atAda.call("USERS_GET", { after: { ...after, created_at: "May" } })).toEqual(
      failed("VALIDATION_ERROR"),
    );
    await whileTableFails("rooms", async () => {
      expect(await atAda.call("ROOM_GET")).toEqual(failed("INTERNAL_ERROR", "Server"));
    });
    expectLogged("no such table: rooms");
  });

  it("are searched by name in a room of any size, by an index (R100)", async () => {
    const { room, ben, atAda } = await roomOfTwo();
    const insert = env.DB.prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers LIMIT 5000)
       INSERT INTO users (id, account_id, room_id, name, name_folded, role, created_at)
       SELECT ?1 || n, ?2, ?1, 'Hannah Al' || n, 'HANNAH AL' || n, 'editor', ?3 + n FROM numbers`,
    );
    await insert.bind(room.id, room.accountId, Date.now()).run();
    const old = [];
    for (const name of ["Al", "Alí", "Jo Al", "Ǆordan_%", "佐藤　健"]) old.push(await room.user({ name }));
    type Found = { readonly total: number; readonly users: readonly { readonly name: string }[] };
    const search = async (text: string, limit?: number) => {
      const { data } = await atAda.call("USERS_GET", { search: text, limit });
      const { total, users } = data as unknown as Found;
      return { total, names: users.map(({ name }) => name) };
    };
    const al = await search("al");
    expect([al.total, al.names.length, al.names.slice(0, 2)]).toEqual([5_003, 20, ["Al", "Alí"]]);
    expect((await search("HANNAH al4999")).names).toEqual(["Hannah Al4999"]);
    expect((await search("jo a")).names).toEqual(["Jo Al"]);
    expect((await search("ali\u0301")).names).toEqual(["Alí"]);
    expect((await search("佐藤")).names).toEqual(["佐藤　健"]);
    expect((await search("n_%")).names).toEqual(["Ǆordan_%"]);
    expect((await search("%")).total).toBe(1);
    expect((await search(ben.user.id.slice(0, 18))).names).toEqual([ben.user.name]);
    expect((await search("hannah", 3)).names).toHaveLength(3);
    expect((await search("no such name")).names).toEqual([]);
    expect((await search("")).names).toHaveLength(1_000);
    const after = { id: "x", created_at: "2026-01-31T09:30:00Z" };
    for (const others of [{ offset: 1 }, { after }, { userIds: [ben.user.id] }])
      expect(await atAda.call("USERS_GET", { search: "al", ...others })).toEqual(failed("VALIDATION_ERROR"));
    expect(await atAda.call("USERS_GET", { search: "x".repeat(257) })).toEqual(failed("VALIDATION_ERROR"));
  });

  it("send their changes once, also to clients that reconnect (R32, R33, R57)", async () => {
    const { room, ada, atAda } = await roomOfTwo();
    const cy = await room.user({ name: "Cy" });
    await room.apply({ type: "user.created", userId: cy.user.id });
    await room.apply({ type: "user.created", userId: cy.user.id });
    await env.DB.prepare("UPDATE rooms SET name = 'New' WHERE id = ?").bind(room.id).run();
    await room.apply({ type: "room.updated" });
    await room.apply({ type: "user.created", userId: crypto.randomUUID() });
    const changes = [
      { seq: 1, event: "userCreated", data: { userId: cy.user.id, user: { name: "Cy", status: "offline" } } },
      { seq: 2, event: "roomUpdated", data: { room: { name: "New", active_participants: 2 } } },
    ];
    expect(await atAda.takeEvents()).toMatchObject(changes);
    expect((await room.join(ada, "editor", { since: 0 })).joined.changes).toMatchObject(changes);
  });
});

it("the gateway throws the error of a refused request", async () => {
  const { room } = await roomOfTwo();
  const refused = roomGateway(env).call(room.id, room.accountId, "COMMENT_DELETE", { commentId: "x" });
  await expect(refused).rejects.toMatchObject({ code: "NOT_FOUND", module: "Rooms" });
});
