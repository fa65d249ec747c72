/** Bugs in which what one member sent to many kept the service's thread from everyone else. */
import { expect, it, onTestFinished, vi } from "vitest";
import { DocumentClient } from "../room/documents/document-client.ts";
import { makeRoom } from "../room/support/rooms.ts";

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

/** Counts what rooms send from now on. Returns the most that one turn of the event loop has sent, in bytes. */
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
