/** Bugs in which sockets that the room had closed went on taking memory. */
import { expect, it } from "vitest";
import { MAX_SOCKETS_PER_USER } from "../../src/room/protocol/protocol.ts";
import { failed, gateway, roomOfTwo, type TestRoom, type TestUser } from "../room/support/rooms.ts";

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

// Members opened one socket after the other and read none: each was closed, what it had been sent stayed in memory, and
// the process grew by 30 MB a second.
it("a closed socket with much to read counts as one of its user's until its connection has ended (R5, R72)", async () => {
  const { room, atBen } = await roomOfTwo();
  const cleo = await room.user({ name: "Cleo" });
  const open = () => openHalf(room, cleo);
  const sockets = [];
  for (let count = 0; count < MAX_SOCKETS_PER_USER; count += 1) sockets.push(await open());
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
  for (let count = 0; count < MAX_SOCKETS_PER_USER; count += 1) {
    const { webSocket, closed } = await openHalf(room, cleo);
    webSocket.send(JSON.stringify({ type: "LEAVE_ROOM" }));
    await closed;
  }
  await room.join(cleo);
  expect((await atAda.call("PRESENCE_UPDATE", { state: null })).success).toBe(true);
});
