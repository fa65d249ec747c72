/** Costs of comments in a room with many: a reply and a page read no more rows than they need. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { pointsOf } from "../../../../src/room/protocol/costs.ts";
import { SqliteStorage } from "../../../../src/room/storage/storage.ts";
import { recordCursors } from "../../../support/recorded-cursors.ts";

const THREADS = 100;
const REPLIES = 10;

/** Says how many rows each piece of work reads in a room with a thousand comments. */
const metered = (work: (rowsOf: (piece: () => unknown) => number, storage: SqliteStorage) => void) =>
  runInDurableObject(env.GUESS_LIMITS.getByName(crypto.randomUUID()), (_, { storage: { sql }, storage }) => {
    const cursors = recordCursors(sql);
    const tables = new SqliteStorage(storage);
    for (let thread = 0; thread < THREADS; thread += 1)
      for (let reply = 0; reply < REPLIES; reply += 1)
        tables.comments.insert({
          ...{ id: `${thread}-${reply}`, threadId: `${thread}`, resolved: reply === 0 },
          ...{ seq: thread * REPLIES + reply, comment: "{}" },
          ...{ at: "", author: { subject: "author", userId: null } },
        });
    work((piece) => {
      cursors.length = 0;
      piece();
      return cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0);
    }, tables);
  });

it("a reply looks at one comment of its thread, and a page at its own comments, however many the room has", () =>
  metered((rowsOf, { comments }) => {
    const all = {};
    const thread = { threadId: "50" };
    expect(rowsOf(() => comments.findEnded())).toBeLessThanOrEqual(1); // once, when the room starts
    expect(rowsOf(() => comments.hasThread("50"))).toBe(1);
    expect(rowsOf(() => comments.count(all))).toBeLessThanOrEqual(1);
    expect(rowsOf(() => comments.list(all, { after: 900, limit: 20 }))).toBe(20);
    // The index of threads and the comments themselves.
    expect(rowsOf(() => comments.list(thread, { after: 505, limit: 20 }))).toBeLessThanOrEqual(2 * REPLIES);
    expect(rowsOf(() => comments.count(thread))).toBeLessThanOrEqual(REPLIES + 1);
    expect(rowsOf(() => comments.count({ resolved: true }))).toBe(THREADS * REPLIES);
  }));

it("a list costs its sender what it passes over, and the count of what its filters match (R69)", () => {
  const points = (data: object) =>
    pointsOf({
      type: "COMMENT_LIST",
      requestId: undefined,
      data: { after: 0, limit: 10, offset: 0, ...data },
    });
  expect([points({}), points({ after: 500 }), points({ offset: 2_000 })]).toEqual([10, 10, 110]);
  expect([points({ resolved: false }), points({ threadId: "a" })]).toEqual([110, 110]);
});

it("mentions cost their sender the read of the database, and a row each (R69, R91)", () => {
  const points = (mentions: string[]) =>
    pointsOf({ type: "COMMENT_CREATE", requestId: undefined, data: { text: "Hello", mentions } });
  expect([points([]), points(["a"]), points(Array(50).fill("a"))]).toEqual([3, 204, 253]);
  const edit = { commentId: "a", text: "Hello" };
  const costs = [edit, { ...edit, mentions: ["a"] }].map((data) =>
    pointsOf({ type: "COMMENT_UPDATE", requestId: undefined, data }),
  );
  expect(costs).toEqual([3, 204]);
  const mention = { mentionId: "m", userId: "a" };
  expect(pointsOf({ type: "TEXT_MENTION_CREATE", requestId: undefined, data: mention })).toBe(203);
});

it("a thread and a page of threads read no more than their own rows, however many comments the room has", () =>
  metered((rowsOf, { threads }) => {
    expect(rowsOf(() => threads.find("50", "reader"))).toBeLessThanOrEqual(REPLIES + 3);
    const page = { before: 700, limit: 10, offset: 0 };
    expect(rowsOf(() => threads.list({}, "reader", page))).toBeLessThanOrEqual(10 * (REPLIES + 3));
    expect(rowsOf(() => threads.count({}, "reader"))).toBeLessThanOrEqual(2 * THREADS + 1);
  }));
