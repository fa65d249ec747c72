/** R34: how long receipts are kept, and that no user can fill the room with them or push out those of another. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { Receipts } from "../../../src/room/engine/content/changes.ts";
import type { RoomStorage } from "../../../src/room/storage/storage.ts";
import { SqliteStorage } from "../../../src/room/storage/storage-sqlite.ts";
import { MemoryStorage } from "../memory-storage/storage-memory.ts";
import { roomOfTwo } from "../support/rooms.ts";

const DAY_MS = 24 * 3_600_000;

describe.each([
  ["memory", (work: (storage: RoomStorage) => void) => work(new MemoryStorage()), 3],
  [
    "SQLite",
    (work: (storage: RoomStorage) => void) =>
      runInDurableObject(env.ROOMS.getByName(crypto.randomUUID()), (_, state) =>
        work(new SqliteStorage(state.storage)),
      ),
    10_003,
  ],
] as const)("receipts in %s", (_, withStorage, many) => {
  const open = (storage: RoomStorage) => {
    const clock = { now: 0 };
    const receipts = new Receipts(storage.receipts, () => clock.now);
    const write = (userId: string, requestId: string, answer = "{}") =>
      receipts.write({ userId, requestId, fingerprint: "f", answer });
    const has = (userId: string, requestId: string) => receipts.findAnswer(userId, requestId, "f") !== null;
    return { clock, receipts, write, has };
  };

  it("are kept for 24 hours", () =>
    withStorage((storage) => {
      const { clock, receipts, write, has } = open(storage);
      write("ada", "first");
      expect(receipts.findAnswer("ada", "first", "another request")).toBeNull();
      clock.now = DAY_MS;
      write("ben", "a day later");
      expect(has("ada", "first")).toBe(true);
      clock.now = DAY_MS + 1;
      write("ben", "later still");
      expect([has("ada", "first"), has("ben", "a day later")]).toEqual([false, true]);
    }));

  it("are deleted in time, also those of users who are gone", () =>
    withStorage((storage) => {
      const { clock, write, has } = open(storage);
      write("ada", "first");
      write("gone", "only");
      clock.now = DAY_MS + 1;
      for (let count = 0; count < 256; count += 1) write("ada", `${count}`);
      expect([storage.receipts.find("ada", "first"), storage.receipts.find("gone", "only")]).toEqual([
        null,
        null,
      ]);
      expect(has("ada", "0")).toBe(true);
    }));

  it("are bounded by user: the earliest of one who has too many go, and no one else's", () =>
    withStorage((storage) => {
      const { write, has } = open(storage);
      write("ada", "mine");
      const answer = "x".repeat(many === 3 ? 2 * 1024 * 1024 : 2);
      for (let count = 0; count < many; count += 1) write("ben", `${count}`, answer);
      expect(has("ada", "mine")).toBe(true);
      const kept = many === 3 ? 2 : 10_000;
      const oldest = many - kept;
      expect([has("ben", `${oldest - 1}`), has("ben", `${oldest}`)]).toEqual([false, true]);
      write("cleo", "large", "x".repeat(5 * 1024 * 1024));
      expect([has("cleo", "large"), has("ben", `${many - 1}`)]).toEqual([true, true]);
    }));
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
