/** R81: users who take part without a socket, for the time that the organization sets. */
import { colorIndexOf, PERSON_COLORS } from "@atrium/contract/person-colors.ts";
import { describe, expect, it } from "vitest";
import { account } from "../../../support/api.ts";
import { gateway, makeRoom, roomOfTwo, type TestRoom, type TestUser } from "../../support/rooms.ts";

const add = (room: TestRoom, { user }: TestUser, state: object | null | undefined, ttl = 60) =>
  gateway.addParticipant(room.id, room.accountId, user.id, { state, ttl });

const remove = (room: TestRoom, { user }: TestUser) =>
  gateway.call(room.id, room.accountId, "PARTICIPANT_REMOVE", { userId: user.id });

describe("a user without a socket", () => {
  it("is online and seen for as long as it was said, through a crash, and then leaves (R81)", async () => {
    const { room, atBen } = await roomOfTwo();
    await atBen.call("PRESENCE_SUBSCRIBE", { target: "*", on: true });
    const agent = await room.user({ name: "Agent" });
    const start = room.now;
    expect(await add(room, agent, { cursor: { x: 1, y: 2 } })).toBe(start + 60_000);
    const shown = { cursor: { x: 1, y: 2 }, color: expect.any(String) };
    expect(await atBen.takeEvents()).toMatchObject([
      { event: "userJoined", data: { user: { name: "Agent", status: "online" } } },
      { event: "presence", data: { updates: [[agent.user.id, shown]] } },
    ]);
    expect(await room.stats()).toMatchObject({ activeParticipants: 3 });
    await room.advance(50_000);
    expect(await add(room, agent, undefined)).toBe(start + 110_000);
    await room.crash();
    const cleo = await room.user();
    const atCleo = await room.join(cleo);
    expect(atCleo.joined.presence).toMatchObject({ [agent.user.id]: shown });
    expect(await room.sessions(agent)).toMatchObject([{ joinedAt: start, leftAt: null }]);
    await room.advance(60_000);
    const left = (await atCleo.takeEvents()).filter(({ event }) => event === "userLeft");
    expect(left).toContainEqual(
      expect.objectContaining({ data: expect.objectContaining({ userId: agent.user.id }) }),
    );
    expect(await room.sessions(agent)).toMatchObject([{ joinedAt: start, leftAt: start + 110_000 }]);
    expect(await room.online(agent)).toEqual([]);
  });

  it("keeps its color through hibernation, also one that its ID does not name (R51)", async () => {
    const { room, ada, atAda } = await roomOfTwo();
    await atAda.call("PRESENCE_UPDATE", { state: { x: 1 } });
    const ids = Array.from({ length: 200 }, () => crypto.randomUUID());
    const id = ids.find((each) => colorIndexOf(each) === colorIndexOf(ada.user.id)) ?? "";
    const agent = await room.user({ id });
    await add(room, agent, { busy: true }, 3_600);
    const colorOf = async () =>
      ((await (await room.join(await room.user())).joined.presence) as Record<string, { color?: string }>)[id]
        ?.color;
    const before = await colorOf();
    expect(before).not.toBe(PERSON_COLORS[colorIndexOf(id)]);
    await atAda.call("LEAVE_ROOM");
    for (const rebuilt of [() => room.hibernate(), () => room.crash()]) {
      await rebuilt();
      expect(await colorOf()).toBe(before);
    }
  });

  it("keeps what it shows when it connects, and then leaves with its socket (R81)", async () => {
    const { room, ada, ben } = await roomOfTwo();
    await expect(add(room, ada, {})).rejects.toMatchObject({ code: "CONFLICT", module: "Rooms" });
    const agent = await room.user();
    await add(room, agent, { at: "work" });
    const atAgent = await room.join(agent);
    expect(atAgent.joined.presence).toMatchObject({ [agent.user.id]: { at: "work" } });
    await atAgent.request("LEAVE_ROOM");
    expect(await room.online(agent, ben)).toEqual([ben.user.id]);
  });

  it("leaves at once when it is removed, deleted, or the room is closed (R81)", async () => {
    const { room, atBen } = await roomOfTwo();
    const [one, two, three] = [await room.user(), await room.user(), await room.user()];
    for (const agent of [one, two, three]) await add(room, agent, { busy: true });
    await remove(room, one);
    await remove(room, one);
    await room.apply({ type: "user.deleted", userId: two.user.id });
    expect(await room.online(one, two, three)).toEqual([three.user.id]);
    await room.set("closed");
    expect(await room.online(three)).toEqual([]);
    expect(await room.stats()).toMatchObject({ activeParticipants: 0 });
    await expect(add(room, one, null)).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(await atBen.closed).toMatchObject({ code: 4403 });
  });

  it("is refused when it does not exist or would show too much, and nothing happens (R81)", async () => {
    const room = await makeRoom();
    const agent = await room.user();
    await expect(add(room, agent, { much: "x".repeat(9_000) })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
    const unknown = { ...agent, user: { ...agent.user, id: crypto.randomUUID() } };
    await expect(add(room, unknown, {})).rejects.toMatchObject({ code: "NOT_FOUND", module: "Users" });
    expect(await room.stats()).toMatchObject({ activeParticipants: 0 });
    expect(await room.alarmAt()).toBeNull();
  });
});

it("a user whom the organization removes is disconnected for good, and may join again (R81)", async () => {
  const { room, ada, atAda, atBen } = await roomOfTwo();
  await remove(room, ada);
  expect(await atAda.closed).toMatchObject({ code: 4403, reason: "removed" });
  expect(await atBen.takeEvents()).toMatchObject([{ event: "userLeft", data: { userId: ada.user.id } }]);
  expect((await room.join(ada)).joined.users).toHaveLength(2);
});

it("the API lets a user take part for 10 seconds to an hour (R81)", async () => {
  const { api } = await account();
  const room = await api.createRoom();
  const user = await api.createUser(room.id);
  const path = `/rooms/${room.id}/participants/${user.id}`;
  for (const ttl of [9, 3_601, 10.5]) expect((await api.put(path, { ttl })).error?.message).toMatch(/^ttl/);
  const added = await api.put<{ expires_at: string }>(path, { presence: { cursor: null }, ttl: 10 });
  expect(Date.parse(added.data.expires_at)).toBeGreaterThan(Date.now());
  const presence = await api.get(`/rooms/${room.id}/presence`);
  expect(presence.data).toMatchObject({ presence: { [user.id]: { cursor: null } } });
  expect((await api.delete(path)).status).toBe(200);
  expect((await api.get(`/rooms/${room.id}/presence`)).data).toEqual({ presence: {} });
});
