/** Connecting, joining and leaving through the client, and its view of the room's users. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventually, run } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { clientOf, join, meet, nextOf } from "./clients.ts";
import { Clock } from "./clock.ts";
import { ModelClient, settle } from "./model/model-client.ts";
import { ModelRoom } from "./model/model-room.ts";
import type { ModelSocket } from "./model/model-socket.ts";

const service = await sharedService();

describe("joining", () => {
  it("sets the current user, the room, the role and the room's users", async () => {
    const { customer, roomId } = await meet(service);
    const bo = await customer.createUser(roomId, "Bo");
    const user = await customer.createUser(roomId, "Ada");
    const ada = clientOf(user, { serverUrl: service.url });
    expect([ada.userId, ada.currentUser, ada.currentRoom, ada.role]).toEqual([user.id, null, null, null]);
    const connected = nextOf(ada, "connected");
    await ada.connect();
    await connected;
    expect(ada.socket.state).toBe("connected");
    await ada.join({ role: "viewer" });
    expect(ada.currentUser).toMatchObject({ id: user.id, name: "Ada", status: "online", following: [] });
    expect(ada.currentRoom).toMatchObject({ id: roomId, state: "active" });
    expect(ada.role).toBe("viewer");
    expect([...ada.users.online.keys()]).toEqual([user.id]);
    expect(ada.users.get({ userId: bo.id })).toMatchObject({ name: "Bo", status: "offline" });
    expect(ada.users.getAll()).toHaveLength(2);
  });

  it("connects first, and joins once for concurrent and repeated calls", async () => {
    const { customer, roomId } = await meet(service);
    const ada = clientOf(await customer.createUser(roomId), { serverUrl: service.url });
    await Promise.all([ada.join(), ada.join({ role: "editor" }), ada.connect(), ada.connect()]);
    await Promise.all([ada.join(), ada.connect()]);
    expect(ada.role).toBe("editor");
    expect((await customer.getRoom(roomId)).room.active_participants).toBe(1);
  });

  it("refuses another role than that of the stay, until the client has left", async () => {
    const { customer, roomId } = await meet(service);
    const ada = clientOf(await customer.createUser(roomId), { serverUrl: service.url });
    const other = { code: "CONFLICT", message: expect.stringContaining("leave() first") };
    const joining = ada.join({ role: "viewer" });
    await expect(ada.join({ role: "editor" })).rejects.toMatchObject(other);
    await joining;
    await expect(ada.join({ role: "editor" })).rejects.toMatchObject(other);
    await Promise.all([ada.join(), ada.join({ role: "viewer" })]);
    expect([ada.role, ada.socket.state]).toEqual(["viewer", "connected"]);
    await ada.leave();
    await ada.join({ role: "editor" });
    expect(ada.role).toBe("editor");
    await expect(ada.join({ role: "viewer" })).rejects.toMatchObject(other);
    expect(ada.role).toBe("editor");
  });

  it("is not begun by a call whose signal is aborted already", async () => {
    const { customer, roomId } = await meet(service);
    const ada = clientOf(await customer.createUser(roomId), { serverUrl: service.url });
    const signal = AbortSignal.abort(new Error("given up"));
    await expect(ada.connect({ signal })).rejects.toBe(signal.reason);
    await expect(ada.join({ signal })).rejects.toBe(signal.reason);
    expect(ada.socket.state).toBe("idle");
  });

  it("works again after leaving, and includes what changed meanwhile", async () => {
    const meeting = await meet(service);
    const [ada, bo] = [await join(meeting, "Ada"), await join(meeting, "Bo")];
    await ada.store("notes").sync();
    ada.disconnect();
    await bo.store("notes").set("1", "meanwhile");
    const cleo = await meeting.customer.createUser(meeting.roomId, "Cleo");
    await ada.join();
    expect(ada.store("notes").get("1")).toBe("meanwhile");
    expect(ada.users.get({ userId: cleo.id })).toMatchObject({ name: "Cleo" });
  });
});

describe("leaving", () => {
  it("is given up by its signal: the client stays, with what is not stored yet", async () => {
    const ada = await join(await meet(service), "Ada");
    const written = ada.store("notes").set("1", "stored");
    const signal = AbortSignal.abort(new Error("given up"));
    await expect(ada.leave({ signal })).rejects.toBe(signal.reason);
    expect(ada.socket.state).toBe("connected");
    await written;
    await ada.leave();
    expect(ada.socket.state).toBe("closed");
  });

  it("ends before a join() that was called meanwhile", async () => {
    const meeting = await meet(service);
    const ada = await join(meeting, "Ada");
    void ada.store("notes").set("1", "stored");
    const reports: string[] = [];
    ada.socket.on("status", ({ status }) => reports.push(status));
    await Promise.all([ada.leave(), ada.join()]);
    expect([ada.socket.state, reports]).toEqual(["connected", ["closed", "connecting", "connected"]]);
    await ada.store("notes").sync();
    expect(ada.store("notes").get("1")).toBe("stored");
  });

  it.each(["leave", "disconnect"] as const)(
    "by %s() takes back a join() that waits for an earlier end",
    async (last) => {
      const meeting = await meet(service);
      const ada = await join(meeting, "Ada");
      const leaving = ada.leave();
      const joining = expect(ada.join()).rejects.toMatchObject({ code: "DISCONNECTED" });
      await Promise.all([ada[last](), leaving, joining]);
      expect(ada.socket.state).toBe("closed");
      await Promise.all([ada.leave(), ada.join().catch(() => {}), ada.leave(), ada.join()]);
      expect(ada.socket.state).toBe("connected");
    },
  );

  it("rejects what waits for the first join", async () => {
    const { customer, roomId } = await meet(service);
    const ada = clientOf(await customer.createUser(roomId), { serverUrl: service.url });
    const waiting = [ada.store("notes").set("1", "early"), ada.comments.create({ text: "early" })];
    ada.disconnect();
    for (const early of waiting) await expect(early).rejects.toMatchObject({ code: "DISCONNECTED" });
    expect(ada.store("notes").get("1")).toBeUndefined();
    await ada.join();
    await ada.store("notes").set("1", "later");
  });

  it("that was called before disconnect() does not end a later stay", async () => {
    const meeting = await meet(service);
    const ada = await join(meeting, "Ada");
    ada
      .store("notes")
      .set("1", "discarded")
      .catch(() => {});
    const leaving = ada.leave();
    ada.disconnect();
    const joining = ada.join();
    await expect(leaving).rejects.toMatchObject({ code: "DISCONNECTED" });
    await joining;
    expect(ada.socket.state).toBe("connected");
  });
});

describe("join()", () => {
  it("that waits for leave() is over with disconnect()", async () => {
    const ada = new ModelClient(new ModelRoom(), "ada");
    const joining = ada.client.join();
    await settle();
    await ada.deliverAll();
    await joining;
    ada.set("1", "discarded");
    const leaving = ada.client.leave();
    const waiting = ada.client.join();
    ada.client.disconnect();
    const left = { code: "DISCONNECTED" };
    await expect(leaving).rejects.toMatchObject(left);
    await expect(waiting).rejects.toMatchObject(left);
    await ada.deliverAll();
    expect(ada.client.socket.state).toBe("closed");
  });

  it.each([
    ["FORBIDDEN", 4403],
    ["NOT_FOUND", 4404],
  ])("asks for another token after %s: it may have other rights", async (code, close) => {
    const meeting = await meet(service);
    const { token } = await meeting.customer.createUser(meeting.roomId);
    const [clock, room] = [new Clock(), new ModelRoom()];
    let socket: ModelSocket | undefined;
    clock.open = () => {
      socket = room.open("ada");
      return socket as unknown as WebSocket;
    };
    let asked = 0;
    const ask = () => {
      asked += 1;
      return token;
    };
    const client = clientOf({ token: ask }, { serverUrl: service.url }, clock);
    for (const times of [1, 2]) {
      const joining = client.join();
      await settle();
      socket?.end(close, "refused");
      await expect(joining).rejects.toMatchObject({ code });
      expect(asked).toBe(times);
    }
  });

  it("does not begin once its signal is aborted", async () => {
    const ada = new ModelClient(new ModelRoom(), "ada");
    await expect(ada.client.join({ signal: AbortSignal.abort("before") })).rejects.toBe("before");
    expect(ada.client.socket.state).toBe("idle");
  });
});

describe("the users of a room", () => {
  it("cause events as they come and go, after the maps were updated", async () => {
    const meeting = await meet(service);
    const ada = await join(meeting, "Ada");
    const reports: unknown[] = [];
    for (const event of ["userCreated", "userJoined", "userUpdated", "userLeft", "userDeleted"] as const) {
      ada.users.on(event, ({ id, name, status }) =>
        reports.push([event, name, status, ada.users.online.has(id), ada.users.all.has(id)]),
      );
    }
    const bo = await join(meeting, "Bo");
    const path = `/users/${bo.userId}?roomId=${meeting.roomId}`;
    await meeting.customer.send("PATCH", path, { name: "Bo B." });
    await eventually("the update", () => reports.length === 3);
    expect(ada.users.get({ userId: bo.userId })).toMatchObject({ name: "Bo B.", status: "online" });
    await eventually("Bo to receive it too", () => bo.currentUser?.name === "Bo B.");
    expect(bo.currentUser?.status).toBe("online");
    bo.disconnect();
    await eventually("Bo to leave", () => reports.length === 4);
    await meeting.customer.send("DELETE", path);
    await eventually("the deletion", () => reports.length === 5);
    expect(reports).toEqual([
      ["userCreated", "Bo", "offline", false, true],
      ["userJoined", "Bo", "online", true, true],
      ["userUpdated", "Bo B.", "online", true, true],
      ["userLeft", "Bo B.", "offline", false, true],
      ["userDeleted", "Bo B.", "offline", false, false],
    ]);
  });

  it("can follow each other, which both users and later participants see", async () => {
    const meeting = await meet(service);
    const [ada, bo] = [await join(meeting, "Ada"), await join(meeting, "Bo")];
    await eventually("Ada to see Bo", () => ada.users.online.size === 2);
    const reports: unknown[] = [];
    bo.users.on("userFollowed", (following) => reports.push(following));
    await ada.users.get({ userId: bo.userId })?.follow();
    expect(ada.currentUser?.following).toEqual([bo.userId]);
    expect(ada.users.get({ userId: bo.userId })?.followers).toEqual([ada.userId]);
    await eventually("Bo to receive it", () => bo.currentUser?.followers[0] === ada.userId);
    expect(reports).toEqual([{ userId: bo.userId, followerId: ada.userId }]);
    const cleo = await join(meeting, "Cleo");
    expect(cleo.users.get({ userId: ada.userId })?.following).toEqual([bo.userId]);
    await ada.users.get({ userId: bo.userId })?.unfollow();
    await eventually("Cleo to receive it", () =>
      [ada, bo].every(({ userId }) => cleo.users.get({ userId })?.followers.length === 0),
    );
    await expect(ada.currentUser?.follow()).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await bo.users.get({ userId: ada.userId })?.follow();
    await cleo.users.get({ userId: bo.userId })?.follow();
    await meeting.customer.send("DELETE", `/users/${bo.userId}?roomId=${meeting.roomId}`);
    await eventually("Bo to be gone", () => ada.users.get({ userId: bo.userId }) === null);
    expect(ada.currentUser?.followers).toEqual([]);
    await eventually("Cleo to receive it too", () => cleo.currentUser?.following.length === 0);
  });

  it("receive updates of the room itself, and of their role", async () => {
    const meeting = await meet(service);
    const ada = await join(meeting, "Ada");
    const reports: string[] = [];
    ada.on("roomUpdated", ({ name }) => reports.push(name));
    ada.on("roleChanged", (role) => reports.push(role));
    await meeting.customer.send("PATCH", `/rooms/${meeting.roomId}`, { name: "Another name" });
    await eventually("the name", () => ada.currentRoom?.name === "Another name");
    const path = `/users/${ada.userId}?roomId=${meeting.roomId}`;
    for (const role of ["viewer", "editor"]) {
      await meeting.customer.send("PATCH", path, { role });
      await eventually(`the role ${role}`, () => ada.role === role);
    }
    expect(reports).toEqual(["Another name", "viewer", "editor"]);
  });
});

describe("a connection", () => {
  it("is closed for good when its user is deleted", async () => {
    const meeting = await meet(service);
    const ada = await join(meeting, "Ada");
    const [refused, failed] = [nextOf(ada, "authFailed"), nextOf(ada, "failed")];
    await meeting.customer.send("DELETE", `/users/${ada.userId}?roomId=${meeting.roomId}`);
    expect(await refused).toMatchObject({ code: "UNAUTHORIZED" });
    expect((await failed).error).toMatchObject({ code: "UNAUTHORIZED" });
  });

  it("is closed when its user is removed from the room, which may join again", async () => {
    const meeting = await meet(service);
    const ada = await join(meeting, "Ada");
    const failed = nextOf(ada, "failed");
    await meeting.customer.send("DELETE", `/rooms/${meeting.roomId}/participants/${ada.userId}`);
    expect((await failed).error).toMatchObject({ code: "FORBIDDEN", message: "removed" });
    expect(ada.socket.state).toBe("closed");
    await ada.join();
    expect(ada.socket.state).toBe("connected");
  });

  it.each([
    ["closed", "PATCH", { state: "closed" }, 4403, "FORBIDDEN"],
    ["deleted", "DELETE", undefined, 4404, "NOT_FOUND"],
  ] as const)("is closed for good when its room is %s", async (_, method, body, code, errorCode) => {
    const meeting = await meet(service);
    const ada = await join(meeting, "Ada");
    const [disconnected, failed] = [nextOf(ada, "disconnected"), nextOf(ada, "failed")];
    let isRefused = false;
    ada.socket.on("authFailed", () => {
      isRefused = true;
    });
    await meeting.customer.send(method, `/rooms/${meeting.roomId}`, body);
    expect(await disconnected).toMatchObject({ code });
    expect((await failed).error).toMatchObject({ code: errorCode });
    expect([ada.socket.state, isRefused]).toEqual(["closed", false]);
    await expect(ada.connect().then(() => ada.join())).rejects.toMatchObject({ name: "AtriumError" });
  });

  it("is not retried by connect()", async () => {
    const { customer, roomId } = await meet(service);
    const user = await customer.createUser(roomId);
    const lost = clientOf(user, { serverUrl: "http://localhost:1" });
    await expect(lost.connect()).rejects.toMatchObject({ code: "CONNECTION_FAILED", module: "Client" });
    expect(lost.socket.state).toBe("idle");
  });
});

describe("leaving", () => {
  it("takes effect at once, may be repeated, and rejects pending writes", async () => {
    const meeting = await meet(service);
    const ada = await join(meeting, "Ada");
    const reports: unknown[] = [];
    ada.socket.on("disconnected", (ending) => reports.push(ending.code));
    ada.socket.on("failed", () => reports.push("failed"));
    const write = ada.store("notes").set("1", 1);
    ada.disconnect();
    expect([ada.socket.state, ada.store("notes").getAll()]).toEqual(["closed", {}]);
    ada.disconnect();
    await expect(write).rejects.toMatchObject({ code: "DISCONNECTED" });
    expect(reports).toEqual([1000]);
    const left = async () => (await meeting.customer.getRoom(meeting.roomId)).room.active_participants === 0;
    await eventually("the room to notice", left);
  });

  it("is possible while connecting, while joining, and before either", async () => {
    const { customer, roomId } = await meet(service);
    const ada = clientOf(await customer.createUser(roomId), { serverUrl: service.url });
    ada.disconnect();
    expect(ada.socket.state).toBe("idle");
    const connecting = ada.connect();
    ada.disconnect();
    await expect(connecting).rejects.toMatchObject({ code: "DISCONNECTED" });
    const joining = ada.connect().then(() => {
      const promise = ada.join();
      ada.disconnect();
      return promise;
    });
    await expect(joining).rejects.toMatchObject({ code: "DISCONNECTED" });
    await ada.join();
    expect(ada.users.online.size).toBe(1);
  });

  it("leaves no timer behind", async () => {
    const { customer, roomId } = await meet(service);
    const clock = new Clock();
    const ada = clientOf(await customer.createUser(roomId), { serverUrl: service.url }, clock);
    await ada.join();
    ada.presence.update({ x: 1 });
    expect(clock.waiting).toBe(2);
    ada.disconnect();
    expect(clock.waiting).toBe(0);
  });

  it("lets a Node.js process exit", async () => {
    const { customer, roomId } = await meet(service);
    const { token } = await customer.createUser(roomId);
    const script = `
      import { AtriumClient } from "./packages/sdk/client/index.ts";
      const client = new AtriumClient({ serverUrl: ${JSON.stringify(service.url)}, authToken: "${token}" });
      await client.join();
      client.presence.update({ x: 1 });
      await client.store("notes").set("1", "done");
      client.disconnect();
      console.log(client.store("notes").get("1"));`;
    const args = ["--input-type=module", "--eval", script];
    expect(await run(process.execPath, args)).toMatchObject({ exitCode: 0, stdout: "done\n" });
  });
});

// Users online of a client whose room has several pages of users (R84), whatever happens between two pages.

const PEOPLE = Array.from({ length: 12 }, (_, index) => ({
  id: `user ${index}`,
  room_id: "room",
  name: `User ${index}`,
  created_at: new Date(Date.UTC(2026, 0, 1 + index)).toISOString(),
  role: "editor" as const,
  status: "offline" as const,
}));

type Step = { readonly type: "come or go"; readonly who: number } | { readonly type: "up" | "down" | "cut" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("come or go" as const), who: fc.nat(PEOPLE.length - 1) }),
  },
  { weight: 8, arbitrary: fc.record({ type: fc.constantFrom("up" as const, "down" as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("cut" as const) }) },
);

function comeOrGo(room: ModelRoom, who: number): void {
  const user = PEOPLE[who];
  if (user === undefined) throw new Error("There is no such user");
  if (room.online.some(({ id }) => id === user.id)) room.leave(user);
  else room.come(user);
}

/** Users online according to the events since the first join: each says something new. */
function followEvents({ client: { users } }: ModelClient): { online: Set<string> | null } {
  const followed: { online: Set<string> | null } = { online: null };
  users.on("userJoined", ({ id }) => {
    expect(followed.online?.has(id)).toBe(false);
    followed.online?.add(id);
  });
  users.on("userLeft", ({ id }) => expect(followed.online?.delete(id)).toBe(true));
  return followed;
}

async function reconnect(client: ModelClient): Promise<void> {
  client.clock.advance(10_000);
  await settle();
}

it("is the same as in the room, and each event says what is new (R11, R84)", async () => {
  const steps = fc.array(step, { maxLength: 60, size: "max" });
  await fc.assert(
    fc.asyncProperty(fc.nat(PEOPLE.length), steps, async (comeFirst, lived) => {
      const room = new ModelRoom();
      room.users = [...PEOPLE].reverse();
      for (let who = 0; who < comeFirst; who += 1) comeOrGo(room, who);
      const client = new ModelClient(room, "ada");
      const { users } = client.client;
      const followed = followEvents(client);
      void client.client.join().then(() => {
        followed.online = new Set(users.online.keys());
      });
      await settle();
      for (const each of lived) {
        if (each.type === "come or go") comeOrGo(room, each.who);
        else if (each.type === "cut") client.socket?.cut();
        else if (each.type === "up") client.socket?.deliverUp();
        else client.socket?.deliverDown();
        await settle();
        if (!client.socket?.isOpen) await reconnect(client);
      }
      // Delivers one by one: knowledge that comes with join() is there before the next event.
      while (client.socket?.deliverUp() || client.deliverDown()) await settle();
      const online = room.online.map(({ id }) => id).sort();
      expect([...users.online.keys()].sort()).toEqual(online);
      expect([...(followed.online ?? [])].sort()).toEqual(online);
      expect(users.getAll().filter(({ status }) => status === "online")).toHaveLength(online.length);
      client.client.disconnect();
    }),
  );
});

it("is complete when join() resolves, and fills in page by page before (R84)", async () => {
  const room = new ModelRoom();
  for (let who = 0; who < 8; who += 1) comeOrGo(room, who);
  const client = new ModelClient(room, "ada");
  const { users } = client.client;
  const sizes: number[] = [];
  users.on("updated", () => sizes.push(users.online.size));
  let joined: number | null = null;
  void client.client.join().then(() => {
    joined = users.online.size;
  });
  await settle();
  await client.deliverAll();
  expect(joined).toBe(8);
  expect(sizes).toEqual([3, 6, 8]);
  client.client.disconnect();
});

it("looks up a user who is asked for right after the answer about others", async () => {
  const room = new ModelRoom();
  const ada = new ModelClient(room, "ada");
  const { client } = ada;
  const joining = client.join();
  await settle();
  await ada.deliverAll();
  await joining;
  const asked = client.users.load({ userIds: ["one"] });
  client.users.on("updated", () => {
    if (room.lookUps.length === 1) queueMicrotask(() => void client.users.load({ userIds: ["two"] }));
  });
  await ada.deliverAll();
  await asked;
  await ada.deliverAll();
  expect(["one", "two"].map((userId) => client.users.isMissing({ userId }))).toEqual([true, true]);
  client.disconnect();
});
