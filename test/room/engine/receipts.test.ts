/** R34: how long receipts are kept, and that no user can fill the room with them or push out those of another. */
import { describe, expect, it } from "vitest";
import { Receipts } from "../../../src/room/engine/content/changes.ts";
import type { SqliteStorage } from "../../../src/room/storage/storage.ts";
import { roomOfTwo } from "../support/rooms.ts";
import { fold, test } from "../support/with-storage.ts";

const DAY_MS = 24 * 3_600_000;

describe("receipts", () => {
  const open = (storage: SqliteStorage) => {
    const clock = { now: 0 };
    const receipts = new Receipts(storage.receipts, () => clock.now);
    const write = (userId: string, requestId: string, answer = "{}") =>
      receipts.write({ userId, requestId, fingerprint: "f", answer });
    const has = (userId: string, requestId: string) => receipts.findAnswer(userId, requestId, "f") !== null;
    return { clock, receipts, write, has };
  };

  test("are kept for 24 hours", ({ storage }) => {
    const { clock, receipts, write, has } = open(storage);
    write("ada", "first");
    expect(receipts.findAnswer("ada", "first", "another request")).toBeNull();
    clock.now = DAY_MS;
    write("ben", "a day later");
    expect(has("ada", "first")).toBe(true);
    clock.now = DAY_MS + 1;
    write("ben", "later still");
    expect([has("ada", "first"), has("ben", "a day later")]).toEqual([false, true]);
  });

  test("are deleted in time, also those of users who are gone", ({ storage }) => {
    const { clock, write, has } = open(storage);
    write("ada", "first");
    write("gone", "only");
    clock.now = DAY_MS + 1;
    fold(storage);
    for (let count = 0; count < 2; count += 1) {
      write("ada", `${count}`);
      fold(storage);
    }
    expect(storage.read("SELECT user_id AS userId FROM receipts")).toEqual([{ userId: "ada" }]);
    expect(["first", "0", "1"].map((id) => has("ada", id))).toEqual([false, true, true]);
  });

  // Of many users who came once, one was looked at with each fold: their receipts were kept for good.
  test("of users who are gone are deleted as fast as others come", ({ storage }) => {
    const { clock, write } = open(storage);
    for (let day = 0; day < 8; day += 1) {
      clock.now = day * (DAY_MS + 1);
      for (let visitor = 0; visitor < 50; visitor += 1) write(`${visitor} of ${day}`, "only");
      fold(storage);
    }
    expect(storage.read("SELECT 1 FROM receipts").length).toBeLessThan(150);
  });

  test("are bounded by user: the earliest of one who has too many go, and no one else's", ({ storage }) => {
    const kinds = [
      { bytes: 2 * 1024 * 1024, kept: 2 },
      { bytes: 2, kept: 10_000 },
    ];
    const answer = (bytes: number) => JSON.stringify("x".repeat(bytes - 2));
    for (const { bytes, kept } of kinds) {
      storage.clear();
      const { write, has } = open(storage);
      write("ada", "mine");
      for (let count = 0; count < kept + 1; count += 1) write("ben", `${count}`, answer(bytes));
      expect(has("ada", "mine")).toBe(true);
      expect([has("ben", "0"), has("ben", "1")]).toEqual([false, true]);
      write("cleo", "large", answer(5 * 1024 * 1024));
      expect([has("cleo", "large"), has("ben", `${kept}`)]).toEqual([true, true]);
    }
  });
});

it("are their sender's own: another user's request with the same id and content is carried out, too", async () => {
  const { atAda, atBen } = await roomOfTwo();
  const answers = [
    await atAda.call("COMMENT_CREATE", { text: "Hello" }, "same"),
    await atBen.call("COMMENT_CREATE", { text: "Hello" }, "same"),
  ];
  const ids = answers.map(({ data }) => (data.comment as { readonly id: string }).id);
  expect(new Set(ids).size).toBe(2);
});
