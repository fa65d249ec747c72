/** What a client shows after joins that could not tell it everything that it had missed. */
import { expect, it } from "vitest";
import { ModelClient, settle } from "./model/model-client.ts";
import { ModelRoom } from "./model/model-room.ts";

async function joined(room: ModelRoom): Promise<ModelClient> {
  const client = new ModelClient(room, "ada");
  void client.client.join();
  client.sync();
  await client.deliverAll();
  return client;
}

/** Cuts the connection, and opens another one, to a room that has forgotten what changed meanwhile. */
async function reset(room: ModelRoom, client: ModelClient): Promise<void> {
  client.socket?.cut();
  room.write("notes", "theirs", 1);
  room.write("notes", "theirs", 2);
  room.forgetChanges();
  client.clock.advance(10_000);
  await settle();
}

/** A user as the database has it. */
const user = (id: string) => ({
  id,
  room_id: "room",
  name: id,
  created_at: "2026-01-01T00:00:00.000Z",
  role: "editor" as const,
  status: "offline" as const,
});

// A reset replaces the store by the room's entries; what the room had not answered must not vanish meanwhile.
it("a client shows its own unanswered writes throughout a reset (R34)", async () => {
  const room = new ModelRoom();
  room.write("notes", "a", "old");
  room.write("notes", "b", "old");
  const client = await joined(room);
  client.set("a", "sent before the cut");
  await settle();
  client.clock.advance(1_000);
  client.delete("b");
  const shown = () => ["a", "b"].map((key) => client.store.get(key));
  await reset(room, client);
  client.set("c", "written meanwhile");
  for (let idle = 0; idle < 5 || client.isLoading; ) {
    expect(shown()).toEqual(["sent before the cut", undefined]);
    expect(client.store.get("c")).toBe("written meanwhile");
    const isBusy = client.socket?.deliverUp() || client.deliverDown();
    idle = isBusy ? 0 : idle + 1;
    await settle();
    client.clock.advance(100);
  }
  expect(client.store.getAll()).toEqual({ a: "sent before the cut", c: "written meanwhile", theirs: 2 });
  expect(room.entries("notes")).toEqual(client.store.getAll());
  client.client.disconnect();
});

it("what was deleted meanwhile is gone after a reset (R33)", async () => {
  const room = new ModelRoom();
  for (const key of ["kept", "gone"]) room.write("notes", key, 1);
  const [client, other] = [await joined(room), await joined(room)];
  other.delete("gone");
  client.socket?.cut();
  await other.deliverAll();
  await reset(room, client);
  await client.deliverAll();
  expect(["kept", "gone"].map((key) => client.store.get(key))).toEqual([1, undefined]);
});

it("a client knows the follows that the answer to its join has no room for (R11)", async () => {
  const room = new ModelRoom();
  room.users = ["ada", "bo", "cleo"].map(user);
  room.follows = { bo: ["ada", "cleo"], cleo: ["bo"] };
  const client = await joined(room);
  const { users } = client.client;
  const follows = () => users.getAll().map(({ following, followers }) => [following, followers]);
  expect(follows()).toEqual([
    [[], ["bo"]],
    [["ada", "cleo"], ["cleo"]],
    [["bo"], ["bo"]],
  ]);
  room.follows = { bo: ["cleo"] };
  await reset(room, client);
  await client.deliverAll();
  expect(follows()).toEqual([
    [[], []],
    [["cleo"], []],
    [[], ["bo"]],
  ]);
  client.client.disconnect();
});

it("a client loads the newest users of a room with a long history, and older ones on demand (R56)", async () => {
  const room = new ModelRoom();
  const created = (day: number) => new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString();
  room.users = Array.from({ length: 2_500 }, (_, i) => ({
    ...user(`user ${i}`),
    created_at: created(2_500 - i),
  }));
  const client = await joined(room);
  const { users } = client.client;
  const loadMore = async () => {
    void users.loadMore();
    await client.deliverAll();
    return [users.all.size, users.hasMore];
  };
  const events: string[] = [];
  for (const event of ["userCreated", "userDeleted", "userUpdated"] as const)
    users.on(event, ({ id }) => events.push(`${event} ${id}`));
  expect([users.all.size, users.hasMore]).toEqual([1_000, true]);
  const newest = users.get({ userId: "user 0" });
  expect(await loadMore()).toEqual([2_000, true]);
  // A page concerns its own users: the others are the objects that components have rendered.
  expect(users.get({ userId: "user 0" })).toBe(newest);
  expect(users.get({ userId: "user 1999" })?.name).toBe("user 1999");
  expect(events).toEqual([]);

  // What a reset has missed is found out page by page.
  const deleted = ["user 3", "user 1500", "user 2400"];
  const left = room.users.filter(({ id }) => !deleted.includes(id));
  room.users = [{ ...user("new"), created_at: created(2_501) }, ...left];
  await reset(room, client);
  await client.deliverAll();
  expect(events.splice(0)).toEqual(["userDeleted user 3", "userCreated new"]);
  expect([users.all.size, users.hasMore]).toEqual([2_000, true]);
  expect(await loadMore()).toEqual([2_000, true]);
  expect(events.splice(0)).toEqual(["userDeleted user 1500"]);
  expect(await loadMore()).toEqual([2_498, false]);
  expect(await loadMore()).toEqual([2_498, false]);
  expect(events).toEqual([]);
  client.client.disconnect();
});
