/** `Atrium`: a person in many rooms by one token of an identity, and the rights that follow live. */

import { Atrium, type AtriumError, type AtriumOptions, type DiscardedWrite, redeemLink } from "atrium/client";
import { Inbox } from "atrium/inbox";
import { keepOffline, memoryStorage } from "atrium/offline";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { eventually } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { EAGER, join, type Meeting, meet, next, nextOf } from "./clients.ts";
import { BreakableProxy } from "./proxy.ts";

const service = await sharedService();

let meeting: Meeting;
let rooms: [string, string];
let ada: { readonly id: string; readonly token: string };
/** How often the application's back end was asked for a token. */
let asked: number;

const identify = async (fields: object = {}) => {
  const body = { customId: `ada-${rooms[0]}`, name: "Ada", ...fields };
  const { data } = await meeting.customer.send<{ identity: { id: string }; token: string }>(
    "POST",
    "/identify",
    body,
  );
  return { id: data.identity.id, token: data.token };
};

const allow = (roomId: string, ...permissions: readonly string[]) =>
  meeting.customer.send("PUT", `/rooms/${roomId}/access`, { identitiesAccesses: { [ada.id]: permissions } });

function open(options: Partial<AtriumOptions> = {}): Atrium {
  const authToken = async () => {
    asked += 1;
    return (await identify()).token;
  };
  const atrium = new Atrium({ serverUrl: service.url, authToken, ...options }, EAGER);
  onTestFinished(() =>
    atrium.close().then(
      () => {},
      () => {},
    ),
  ); // rooms that have failed say so
  return atrium;
}

beforeEach(async () => {
  asked = 0;
  meeting = await meet(service);
  rooms = [meeting.roomId, (await meeting.customer.createRoom()).id];
  ada = await identify();
  for (const roomId of rooms) await allow(roomId, "*:write");
});

it("has one client of a room that was left and joined again, and closes it", async () => {
  const atrium = open();
  const room = atrium.enterRoom(rooms[0]);
  await room.join();
  await room.leave();
  await room.join();
  expect(atrium.enterRoom(rooms[0])).toBe(room);
  await atrium.close();
  expect(room.socket.state).toBe("closed");
});

it("joins for one who enters while others leave", async () => {
  const atrium = open();
  const room = atrium.enterRoom(rooms[0]);
  await room.join();
  const first = room.leave();
  atrium.enterRoom(rooms[0]);
  const joining = room.join();
  atrium.enterRoom(rooms[0]);
  await Promise.all([first, joining, room.leave()]);
  expect(room.socket.state).toBe("connected");
  await room.leave();
  expect(room.socket.state).toBe("closed");
});

it("is in several rooms at once, as a user of each, by one token that is renewed once for all", async () => {
  const atrium = open();
  const [plan, board] = [atrium.enterRoom(rooms[0]), atrium.enterRoom(rooms[1])];
  expect([plan.permissions, plan.canWrite("stores"), plan.userId]).toEqual([[], false, ""]);
  await Promise.all([plan.join(), board.join()]);
  expect([plan.currentRoom?.id, board.currentRoom?.id]).toEqual(rooms);
  expect([plan.currentUser?.name, board.currentUser?.name, asked]).toEqual(["Ada", "Ada", 1]);
  expect(plan.userId).not.toBe(board.userId);
  expect([plan.role, plan.permissions, plan.canWrite("files")]).toEqual(["editor", ["*:write"], true]);
  const bo = await join(meeting, "Bo");
  await bo.store("notes").sync();
  await plan.store("notes").set("1", "Ada's");
  await eventually("Bo to have it", () => bo.store("notes").get("1") === "Ada's");
  const stored = await board.storage.upload({ file: new Blob(["Hello"]), filename: "hello.txt" });
  expect((await board.storage.getAll()).map(({ key }) => key)).toEqual([stored.key]);
  await board.storage.delete(stored);
  const back = Promise.all([nextOf(plan, "reconnected"), nextOf(board, "reconnected")]);
  await meeting.customer.send("DELETE", `/identities/${ada.id}/tokens`);
  await back;
  expect(asked).toBe(2);
});

it("uses the next token of its identity at once in all rooms and its inbox, without leaving them", async () => {
  const atrium = open();
  const inbox = new Inbox(atrium);
  const clients = [atrium.enterRoom(rooms[0]), atrium.enterRoom(rooms[1])];
  await Promise.all([...clients.map((client) => client.join()), inbox.connect()]);
  expect(asked).toBe(1);
  const losses: unknown[] = [];
  for (const { socket } of [...clients, inbox]) socket.on("disconnected", (loss) => losses.push(loss));
  atrium.renewToken();
  await eventually("another token", () => asked === 2);
  for (const client of clients) await client.comments.list(); // answered: still joined
  expect([losses, asked]).toEqual([[], 2]);
  inbox.disconnect();
});

it("shares the client of a room that is entered twice, until the last has left", async () => {
  const atrium = open();
  const room = atrium.enterRoom(rooms[0]);
  expect(atrium.enterRoom(rooms[0])).toBe(room);
  await room.join();
  await room.leave();
  expect([room.socket.state, atrium.enterRoom(rooms[0])]).toEqual(["connected", room]);
  await room.leave();
  await room.leave();
  expect(room.socket.state).toBe("closed");
  const again = atrium.enterRoom(rooms[0]);
  expect(again).not.toBe(room);
  await again.join();
  await atrium.close();
  expect(again.socket.state).toBe("closed");
});

it("is not left by the client that had its place before", async () => {
  const atrium = open();
  const old = atrium.enterRoom(rooms[0]);
  await old.join();
  old.disconnect();
  const room = atrium.enterRoom(rooms[0]);
  await room.join();
  await old.leave();
  old.disconnect();
  expect([room.socket.state, atrium.enterRoom(rooms[0])]).toEqual(["connected", room]);
});

it("enters a room by its custom ID, with files and downloads, and comes back to it", async () => {
  const proxy = await BreakableProxy.before(service);
  onTestFinished(() => proxy.close());
  const customId = `plans/${rooms[0]}`;
  await meeting.customer.send("PATCH", `/rooms/${rooms[0]}`, { customId });
  const tokens = [(await identify({ customId: "cleo", ttl: 60, rooms: ["none"] })).token];
  const atrium = open({ serverUrl: proxy.url });
  const room = atrium.enterRoom({ customId });
  expect(atrium.enterRoom({ customId })).toBe(room);
  await expect(room.storage.getAll()).rejects.toMatchObject({ code: "NOT_JOINED" });
  await room.join();
  expect([room.currentRoom?.id, room.currentUser?.name]).toEqual([rooms[0], "Ada"]);
  await room.store("notes").set("1", "Ada's");
  const { key } = await room.storage.upload({ file: new Blob(["Hello"]), filename: "hello.txt" });
  expect((await room.storage.getAll()).map((file) => file.key)).toEqual([key]);
  await meeting.customer.send("PATCH", `/rooms/${rooms[0]}`, { customId: null });
  const back = nextOf(room, "reconnected");
  proxy.shut();
  await nextOf(room, "reconnecting");
  proxy.open();
  await back;
  const unknown = open().enterRoom({ customId });
  await expect(unknown.join()).rejects.toMatchObject({ code: "NOT_FOUND", module: "Rooms" });
  const authToken = () => tokens.pop() ?? null;
  const narrow = open({ authToken }).enterRoom({ customId: "plan" });
  await expect(narrow.join()).rejects.toMatchObject({ code: "NOT_FOUND" });
});

it("asks for another token when the first one is refused at the address of a custom ID", async () => {
  const customId = `plans/${rooms[0]}`;
  await meeting.customer.send("PATCH", `/rooms/${rooms[0]}`, { customId });
  const { token } = await identify();
  const tokens = [token, `${token.slice(0, -8)}AAAAAAAA`];
  const room = open({ authToken: () => tokens.pop() ?? null }).enterRoom({ customId });
  await room.join();
  expect([tokens.length, room.currentRoom?.id]).toEqual([0, rooms[0]]);
});

it("refuses the token of a user, and another identity's", async () => {
  const { token } = await meeting.customer.createUser(rooms[0], "Bo");
  expect(() => open({ authToken: token })).toThrow("authToken must be the token of an identity");
  const other = await identify({ customId: "cleo" });
  const tokens = [`${ada.token.slice(0, -8)}AAAAAAAA`, other.token];
  const room = open({ authToken: () => tokens.shift() ?? null }).enterRoom(rooms[0]);
  await expect(room.join()).rejects.toMatchObject({ code: "FORBIDDEN", module: "Auth" });
});

it("follows its permissions live: a refused write is rolled back, and presence waits for its permission", async () => {
  const atrium = open();
  const room = atrium.enterRoom(rooms[0]);
  await room.join();
  const bo = await join(meeting, "Bo");
  const shown: unknown[] = [];
  bo.presence.sync(room.userId, ({ state }) => shown.push(state?.x));
  const reports: unknown[] = [];
  room.on("accessChanged", ({ permissions, role }) =>
    reports.push([permissions, role, room.canWrite("comments")]),
  );
  room.on("roleChanged", (role) => reports.push(role));
  const notes = room.store("notes");
  await notes.set("1", "mine");
  await allow(rooms[0], "*:read", "comments:write");
  await eventually("the change", () => reports.length === 2);
  expect(reports).toEqual([[["*:read", "comments:write"], "viewer", true], "viewer"]);
  const refused = notes.set("1", "more");
  expect(notes.get("1")).toBe("more");
  await expect(refused).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect([notes.get("1"), room.canWrite("stores")]).toEqual(["mine", false]);
  await room.comments.create({ text: "This may be written" });
  room.presence.update({ x: 1 });
  await room.comments.list(); // answered: an update of the presence would have been refused
  expect(shown).toEqual([]);
  await allow(rooms[0], "*:write");
  await eventually("the presence", () => shown.includes(1));
  expect(room.canWrite("presence")).toBe(true);
});

it("ends in a room that it may not enter any more, and leaves nothing of it on the device", async () => {
  const [proxy, storage] = [await BreakableProxy.before(service), memoryStorage()];
  onTestFinished(() => proxy.close());
  const atrium = open({ serverUrl: proxy.url, offline: keepOffline({ storage }) });
  const [plan, board] = [atrium.enterRoom(rooms[0]), atrium.enterRoom(rooms[1])];
  await Promise.all([plan.join(), board.join()]);
  for (const room of [plan, board]) {
    await room.store("notes").sync();
    await room.store("notes").set("1", "kept");
  }
  proxy.shut();
  await Promise.all([nextOf(plan, "reconnecting"), nextOf(board, "reconnecting")]);
  const lost = plan
    .store("notes")
    .set("2", "unsent")
    .catch(({ code }: AtriumError) => code);
  const discarded = next<{ writes: readonly DiscardedWrite[]; error: { code: string } }>(
    "the discarded write",
    (listener) => plan.on("changesDiscarded", listener),
  );
  const failed = nextOf(plan, "failed");
  await allow(rooms[0], "none");
  const back = nextOf(board, "reconnected");
  proxy.open();
  expect(await discarded).toMatchObject({
    writes: [{ store: "notes", key: "2" }],
    error: { code: "FORBIDDEN" },
  });
  expect(await lost).toBe("FORBIDDEN");
  expect((await failed).error).toMatchObject({
    code: "FORBIDDEN",
    message: "You have no access to this room",
  });
  expect([plan.socket.state, plan.canWrite("stores")]).toEqual(["closed", false]);
  await back;
  expect(board.socket.state).toBe("connected");
  const later = nextOf(board, "failed");
  await allow(rooms[1], "none");
  expect((await later).error).toMatchObject({
    code: "FORBIDDEN",
    message: "You have no access to this room",
  });
  await expect(atrium.close()).rejects.toMatchObject({ code: "FORBIDDEN" }); // the error of the discarded write
  const again = open({ offline: keepOffline({ storage }) });
  for (const roomId of rooms) {
    const room = again.enterRoom(roomId);
    await expect(room.join()).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(room.store("notes").state).toBe("unloaded");
  }
});

it("lets a guest in by a link, as the same one by each further token, until the link is revoked", async () => {
  const { accountId } = service;
  const body = { permissions: "commenter", maxUses: 1 };
  const { data } = await meeting.customer.send<{ link: { id: string }; secret: string }>(
    "POST",
    `/rooms/${rooms[0]}/links`,
    body,
  );
  const options = { serverUrl: service.url, accountId, secret: data.secret, name: "Gale" };
  let requests = 0;
  const counted: typeof fetch = (...request) => {
    requests += 1;
    return fetch(...request);
  };
  const guest = await redeemLink({ ...options, fetch: counted });
  expect(guest).toMatchObject({ identity: { kind: "guest", name: "Gale" }, roomId: rooms[0] });
  const first = guest.token;
  const { authToken } = guest;
  const room = open({ authToken }).enterRoom(guest.roomId);
  await room.join();
  expect([room.currentUser?.name, room.permissions.includes("comments:write"), requests]).toEqual([
    "Gale",
    true,
    1,
  ]);
  const later = open({ authToken }).enterRoom(guest.roomId);
  await later.join();
  expect([later.userId, requests]).toEqual([room.userId, 2]);
  const back = await redeemLink({ ...options, token: first });
  expect(back.identity.id).toBe(guest.identity.id);
  await expect(redeemLink(options)).rejects.toMatchObject({ code: "NOT_FOUND", module: "Identities" });
  const failed = nextOf(room, "failed");
  await meeting.customer.send("DELETE", `/rooms/${rooms[0]}/links/${data.link.id}`);
  expect((await failed).error.code).toBe("FORBIDDEN");
  await expect(authToken()).rejects.toMatchObject({ code: "NOT_FOUND", retryable: false });
});
