/** R85: refused frames count by size, so that a client that keeps sending them is closed. */
import { describe, expect, it } from "vitest";
import { failed, roomOfTwo } from "../support/rooms.ts";

const KIB = 1024;

/** Frames among a user's 1,000 that spend all points of the user. */
const SPENDING_FRAMES = 60;

/** Ada can afford nothing more, and the clock stands still: her broadcasts are refused. */
async function roomWithoutPoints() {
  const { atAda, atBen } = await roomOfTwo();
  for (let count = 0; count < SPENDING_FRAMES; count += 1)
    expect((await atAda.call("STORE_SYNC", { store: "s" })).success).toBe(true);
  const broadcast = (bytes: number) => atAda.call("BROADCAST", { event: "e", data: "x".repeat(bytes) });
  return { atAda, atBen, broadcast };
}

describe("a refused broadcast", () => {
  it("counts once more for each 8 KiB, and closes the socket that goes on (R85)", async () => {
    const { atAda, atBen, broadcast } = await roomWithoutPoints();
    const each = 1 + 7;
    for (let frames = SPENDING_FRAMES; frames < 1_000; frames += each)
      expect(await broadcast(60 * KIB)).toEqual(failed("RATE_LIMITED"));
    atAda.send({ type: "PRESENCE_UPDATE", data: { state: null } });
    expect(await atAda.closed).toMatchObject({ code: 4429 });
    expect(await atBen.takeEvents()).toMatchObject([{ event: "userLeft" }]);
  });

  it("counts once if it is small (R85)", async () => {
    const { atAda, broadcast } = await roomWithoutPoints();
    for (let frames = SPENDING_FRAMES; frames < 999; frames += 1)
      expect(await broadcast(7 * KIB)).toEqual(failed("RATE_LIMITED"));
    expect((await atAda.call("PRESENCE_UPDATE", { state: null })).success).toBe(true);
  });
});

it("a frame that cannot be understood counts once more for each 8 KiB (R85)", async () => {
  const { atAda } = await roomOfTwo();
  for (let frames = 0; frames < 1_000; frames += 1 + 1 + 12) {
    atAda.sendRaw("[".repeat(100 * KIB));
    expect(await atAda.nextResponse()).toEqual(failed("BAD_REQUEST"));
  }
  atAda.send({ type: "PRESENCE_UPDATE", data: { state: null } });
  expect(await atAda.closed).toMatchObject({ code: 4429 });
});

it("a large broadcast that is sent counts once (R60, R85)", async () => {
  const { atAda, atBen } = await roomOfTwo();
  for (let count = 0; count < 200; count += 1) {
    expect((await atAda.call("BROADCAST", { event: "e", data: "x".repeat(60 * KIB) })).success).toBe(true);
    await atBen.next();
  }
});
