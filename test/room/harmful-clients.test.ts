/** Clients that ask for much: joins and frames of the others stay cheap. */
import { LIMITS } from "@atrium/contract/limits.ts";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { DocumentClient } from "./documents/document-client.ts";
import { failed, gateway, makeRoom, roomOfTwo, type TestRoom, type TestUser } from "./support/rooms.ts";

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

// Bugs in which one member's messages to many kept the service's thread from everyone else.

const TYPED = 400_000;
const READERS = 12;

/** Whether it is the room's end of a socket, which has an attachment. */
function isOfRoom(socket: WebSocket): boolean {
  try {
    return socket.deserializeAttachment() !== null;
  } catch {
    return false;
  }
}

/** Counts the bytes that rooms send from now on. Returns the most that one turn of the event loop has sent. */
function largestTurn(): () => number {
  const { send } = WebSocket.prototype;
  let [sent, most] = [0, 0];
  let isCounting = false;
  /** The timer is the room's own, like those of its portions, behind which one of a client could be late. */
  const count = (bytes: number) => {
    sent += bytes;
    most = Math.max(most, sent);
    if (isCounting) return;
    isCounting = true;
    setTimeout(() => {
      [sent, isCounting] = [0, false];
    }, 0);
  };
  const spy = vi.spyOn(WebSocket.prototype, "send").mockImplementation(function (this: WebSocket, frame) {
    if (isOfRoom(this)) count(typeof frame === "string" ? frame.length : frame.byteLength);
    send.call(this, frame);
  });
  onTestFinished(() => spy.mockRestore());
  return () => most;
}

// An update of 8 MiB went to all who had the document open in one turn: the service did nothing else meanwhile, and the
// room held it as many times.
it.each(["yWebsocket", "hocuspocus", "room"] as const)(
  "an update of a document goes out to many over %s in portions, between which others get their turn (R58)",
  async (wire) => {
    const room = await makeRoom();
    const [ada, ben] = [await room.user(), await room.user()];
    const writer = await (await DocumentClient.open(room, ada)).synced();
    const readers: DocumentClient[] = [];
    for (let count = 0; count < READERS; count += 1)
      readers.push(await (await DocumentClient.open(room, ben, { wire })).synced());
    const largest = largestTurn();
    writer.type("x".repeat(TYPED));
    for (const reader of readers) await reader.until(() => reader.text.length === TYPED);
    expect(largest()).toBeGreaterThanOrEqual(TYPED);
    expect(largest()).toBeLessThan((READERS / 2) * TYPED);
  },
);

// Bugs in which sockets that the room had closed went on taking memory.

const LARGE = "x".repeat(60_000);
/** More than a MiB together. */
const BROADCASTS = 18;

/** A client that joins, and does not answer when the room closes its socket. */
async function openHalf(room: TestRoom, { token }: TestUser) {
  await room.inside(() => undefined);
  const upgrade = new Request("https://atrium.test/socket", { headers: { Upgrade: "websocket" } });
  const { webSocket } = await gateway.connect(room.id, room.accountId, upgrade);
  if (webSocket === null) throw new Error("The upgrade returned no socket");
  webSocket.accept({ allowHalfOpen: true });
  const joined = new Promise<void>((resolve) => {
    webSocket.addEventListener("message", () => resolve(), { once: true });
  });
  const closed = new Promise<void>((resolve) => {
    webSocket.addEventListener("close", () => resolve(), { once: true });
  });
  webSocket.send(JSON.stringify({ type: "JOIN_ROOM", data: { token } }));
  await joined;
  return { webSocket, closed };
}

// Members opened one socket after the other and read none: each was closed, its sent bytes stayed in memory,
// and the process grew by 30 MB a second.
it("a closed socket with much to read counts as one of its user's until its connection has ended (R5, R72)", async () => {
  const { room, atBen } = await roomOfTwo();
  const cleo = await room.user({ name: "Cleo" });
  const open = () => openHalf(room, cleo);
  const sockets = [];
  for (let count = 0; count < LIMITS.socketsPerUser; count += 1) sockets.push(await open());
  for (let count = 0; count < BROADCASTS; count += 1)
    expect((await atBen.call("BROADCAST", { event: "e", data: LARGE })).success).toBe(true);
  for (const { webSocket } of sockets) webSocket.send(JSON.stringify({ type: "LEAVE_ROOM" }));
  await Promise.all(sockets.map(({ closed }) => closed));
  const refused = await room.connect();
  expect(await refused.request("JOIN_ROOM", { token: cleo.token })).toEqual(failed("CONFLICT"));
  expect(await refused.closed).toMatchObject({ code: 4409 });
  for (const { webSocket } of sockets.slice(0, 1)) webSocket.close(1000);
  await expect
    .poll(() =>
      room.join(cleo).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
});

it("a closed socket with little to read counts no more (R5, R72)", async () => {
  const { room, atAda } = await roomOfTwo();
  const cleo = await room.user({ name: "Cleo" });
  for (let count = 0; count < LIMITS.socketsPerUser; count += 1) {
    const { webSocket, closed } = await openHalf(room, cleo);
    webSocket.send(JSON.stringify({ type: "LEAVE_ROOM" }));
    await closed;
  }
  await room.join(cleo);
  expect((await atAda.call("PRESENCE_UPDATE", { state: null })).success).toBe(true);
});
