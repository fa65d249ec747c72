/** Guarantees of the room's storage beyond what the room shows. */

import { DEFAULT_SETTINGS } from "@atrium/contract/resources/thread.ts";
import { describe, expect, vi } from "vitest";
import * as z from "zod";
import { commentIdOf } from "../../src/room/storage/sqlite-content.ts";
import { NO_STATE } from "../../src/room/storage/sqlite-threads.ts";
import type { OpenSession, RoomRecord, RoomStorage, SqliteStorage } from "../../src/room/storage/storage.ts";
import { userRecord } from "./support/rows.ts";
import { fold, test } from "./support/with-storage.ts";

type Ids = [string, string, string, string];
type NewComment = Parameters<RoomStorage["comments"]["insert"]>[0];

const RECORD: RoomRecord = {
  accountId: "account",
  roomId: "room",
  activeParticipants: 1,
  occupiedMs: 2,
  occupiedSince: 3,
  version: 4,
  copiedVersion: 3,
  lastAliveAt: 5,
  sessionId: "session",
};

const newComment = (id: string, fields: Partial<NewComment> = {}): NewComment => ({
  ...{ id, threadId: id, resolved: false, seq: 1, comment: "{}", at: "" },
  author: { subject: "ada", userId: null },
  ...fields,
});

const session = (id: string, userId: string, joinedAt = 10): OpenSession => ({
  id,
  joinedAt,
  user: userRecord(userId),
});

describe("storage", () => {
  test("keeps the latest epochs, and how far each went (R79)", ({ storage, reopen }) => {
    expect(storage.epochs.latest()).toBeNull();
    storage.epochs.begin("a", 0, 2);
    storage.epochs.begin("b", 3, 2);
    expect(["a", "b", "c"].map((id) => storage.epochs.lastSeqOf(id))).toEqual([3, Infinity, null]);
    storage.epochs.begin("c", 3, 2);
    const { epochs } = reopen();
    expect(epochs.latest()).toBe("c");
    expect(["a", "b", "c"].map((id) => epochs.lastSeqOf(id))).toEqual([null, 3, Infinity]);
    expect(() => epochs.begin("c", 4, 2)).toThrow();
  });

  test("refuses a second open session of a user, and a repeated id", ({ storage }) => {
    storage.insertSession(session("s1", "u1"));
    expect(() => storage.insertSession(session("s2", "u1"))).toThrow();
    expect(storage.listOpenSessions()).toHaveLength(1);
  });

  test("lists a user's sessions newest first, even within a millisecond, up to the limit", ({ storage }) => {
    for (const id of ["a", "b", "c"]) {
      storage.insertSession(session(id, "u1"));
      storage.endSession("u1", 10);
    }
    storage.insertSession(session("other", "u2"));
    expect(storage.listSessions("u1", 100).map(({ id }) => id)).toEqual(["c", "b", "a"]);
    expect(storage.listSessions("u1", 2).map(({ id }) => id)).toEqual(["c", "b"]);
    expect(storage.listSessions("u1", 2, "b").map(({ id }) => id)).toEqual(["a"]);
    expect(storage.listSessions("u1", 2, "gone")).toEqual([]);
  });

  test("finds for many users at once whether they are online and when they last joined", ({ storage }) => {
    storage.insertSession(session("s1", "u1", 10));
    storage.endSession("u1", 20);
    storage.insertSession(session("s2", "u1", 30));
    storage.insertSession(session("s3", "u2", 40));
    storage.endSession("u2", 50);
    const many = Array.from({ length: 500 }, (_, index) => `unknown-${index}`);
    expect(storage.findLastSeen([...many, "u1", "u2"])).toEqual({
      u1: { online: true, joinedAt: 30 },
      u2: { online: false, joinedAt: 40 },
    });
    expect(storage.listLatestStays(2)).toEqual([
      { userId: "u2", leftAt: 50 },
      { userId: "u1", leftAt: null },
    ]);
  });

  const change = (seq: number, key: string, value: unknown = seq) => {
    const action = value === null ? "delete" : "set";
    const data = JSON.stringify({ store: "s", key, action, value, version: seq, by: null, seq });
    const stored = value === null ? null : { key, value: JSON.stringify(value), version: seq };
    return [{ seq, event: "storeChanged", data, at: seq * 10, entry: { store: "s", key } }, stored] as const;
  };

  test("keeps changes in order, and of those of an entry the latest, in the journal and behind it", ({
    storage,
    reopen,
  }) => {
    expect([storage.changes.lastSeq(), storage.changes.listAfter(0)]).toEqual([0, []]);
    const written = [change(1, "a"), change(2, "b"), change(3, "a"), change(4, "b", null), change(5, "c")];
    for (const each of written) storage.changes.append(...each);
    const seqsOf = (from: SqliteStorage, after: number) => [
      from.changes.listAfter(after).map(({ seq }) => seq),
      from.changes.latestAfter(after).map(({ seq }) => seq),
    ];
    for (const each of [storage, reopen()]) {
      expect(seqsOf(each, 1)).toEqual([
        [2, 3, 4, 5],
        [3, 4, 5],
      ]);
      expect(each.changes.listAfter(4)).toEqual([change(5, "c")[0]]);
      expect(["a", "b", "c"].map((key) => each.entries.find("s", key)?.version)).toEqual([3, undefined, 5]);
    }
    const { entries, changes } = reopen();
    expect([...entries.scan("s", null)].map(({ key, version }) => [key, version])).toEqual([
      ["a", 3],
      ["c", 5],
    ]);
    expect([changes.lastSeq(), changes.listAfter(3)]).toEqual([
      5,
      [change(4, "b", null)[0], change(5, "c")[0]],
    ]);
    fold(storage);
    const folded = reopen();
    expect(folded.read("SELECT * FROM journal")).toEqual([]);
    folded.changes.append(...change(6, "a"));
    expect(seqsOf(reopen(), 2)).toEqual([
      [3, 4, 5, 6],
      [4, 5, 6],
    ]);
    folded.changes.dropAll(({ seq }) => seq < 6);
    expect([seqsOf(reopen(), 0), reopen().changes.readDroppedSeq()]).toEqual([[[6], [6]], 5]);
    folded.changes.dropAll(() => true);
    const { changes: dropped } = reopen();
    expect([dropped.listAfter(0), dropped.readDroppedSeq(), dropped.lastSeq()]).toEqual([[], 6, 6]);
  });

  test("reads a store with what is not in its place yet, which stays there", ({ storage, reopen }) => {
    const keys = ["", "a", "b", "\uffff", "😀", '"', "'", "[1]", "null"];
    const written = new Map<string, number>();
    const write = (seq: number, key: string, isDeleted: boolean) => {
      storage.changes.append(...(isDeleted ? change(seq, key, null) : change(seq, key)));
      if (isDeleted) written.delete(key);
      else written.set(key, seq);
      storage.entries.writeSize("s", { entries: written.size, bytes: written.size });
    };
    const inOrder = () =>
      [...written].sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    for (let seq = 1; seq <= 60; seq += 1) {
      write(seq, keys[(seq * 7) % keys.length] ?? "", seq % 4 === 0);
      if (seq % 20 === 0) fold(storage);
      for (const { entries } of [storage, reopen()])
        for (const after of [null, "a", "\uffff"]) {
          const expected = inOrder().filter(
            ([key]) => Buffer.compare(Buffer.from(key), Buffer.from(after ?? "")) > 0,
          );
          const versions = Array.from(entries.scan("s", after), ({ key, version }) => [key, version]);
          expect(versions).toEqual(expected);
          const text = Array.from(entries.scanText("s", after), ({ items }) =>
            new TextDecoder().decode(items),
          );
          const items = JSON.parse(`[${text.join("").slice(1)}]`) as unknown[];
          expect(items.filter((_, index) => index % 3 !== 1)).toEqual(expected.flat());
        }
      expect(storage.read("SELECT 1 FROM journal").length > 0).toBe(seq % 20 !== 0);
    }
    expect([...storage.entries.scan("other", null)]).toEqual([]);
  });

  test("reads a store of which a transaction has written megabytes", ({ storage }) => {
    storage.transaction(() => {
      for (let seq = 1; seq <= 30; seq += 1)
        storage.changes.append(...change(seq, `${seq}`, "x".repeat(100_000)));
      storage.entries.writeSize("s", { entries: 30, bytes: 3_000_000 });
      expect([...storage.entries.scan("s", null)]).toHaveLength(30);
    });
    expect([...storage.entries.scanText("s", null)].at(-1)?.lastKey).toBe("9");
  });

  test("keeps every change once that is wanted (R80)", ({ storage, reopen }) => {
    for (const seq of [1, 2]) storage.changes.append(...change(seq, "a"));
    storage.changes.keepEvery();
    for (const seq of [3, 4]) storage.changes.append(...change(seq, "a"));
    fold(storage);
    expect(
      reopen()
        .changes.latestAfter(0)
        .map(({ seq }) => seq),
    ).toEqual([2, 3, 4]);
  });

  test("cuts what many changes need into rows, and grows the last one", ({ storage, reopen }) => {
    const value = "x".repeat(10_000);
    storage.transaction(() => {
      for (let seq = 1; seq <= 20; seq += 1) storage.changes.append(...change(seq, `${seq}`, value));
    });
    for (const seq of [21, 22]) storage.changes.append(...change(seq, "small"));
    expect(storage.read("SELECT length(data) < 65536 AS fits FROM journal")).toHaveLength(5);
    fold(storage);
    expect(storage.read("SELECT changes FROM log")).toHaveLength(7);
    expect(reopen().changes.latestAfter(0)).toHaveLength(21);
    expect(reopen().entries.find("s", "20")?.value).toBe(JSON.stringify(value));
  });

  test("forgets the rows of a commit that fails behind its first one", async ({ storage, reopen }) => {
    storage.changes.append(...change(1, "a"));
    const failing = vi.spyOn(storage, "insert").mockImplementationOnce(storage.insert.bind(storage));
    failing.mockImplementation(() => {
      throw new Error("The disk is full");
    });
    const fill = () =>
      storage.transaction(() => {
        for (let seq = 2; seq < 12; seq += 1)
          storage.changes.append(...change(seq, `${seq}`, "x".repeat(20_000)));
      });
    expect(fill).toThrow("The disk is full");
    failing.mockRestore();
    storage.changes.append(...change(2, "b"));
    for (const each of [storage, reopen()])
      expect([each.changes.lastSeq(), each.entries.find("s", "b")?.version]).toEqual([2, 2]);
  });

  test("drops what names someone also in a room that was restored", ({ storage, reopen }) => {
    storage.changes.append(...change(1, "a"));
    storage.changes.writeRestoredSeq(1_000);
    storage.changes.skipRestored();
    storage.changes.dropAll(() => true);
    const { changes } = reopen();
    expect([changes.listAfter(0), changes.readDroppedSeq(), changes.lastSeq()]).toEqual([[], 1, 1_000]);
  });

  test("finds each receipt by its own ID, whatever that contains", ({ storage, reopen }) => {
    const ids = [",", '","', '"', "\\", "a", 'a","b', "", "[", "é"];
    for (const [index, requestId] of ids.entries())
      storage.receipts.insert({
        ...{ userId: "u", requestId, fingerprint: "f", answer: `${index}` },
        ...{ number: index + 1, total: index + 1, at: 1 },
      });
    fold(storage);
    const { receipts } = reopen();
    expect(storage.read("SELECT * FROM journal")).toEqual([]);
    expect(ids.map((id) => receipts.find("u", id)?.answer)).toEqual(ids.map((_, index) => `${index}`));
    expect([receipts.find("u", "b"), receipts.find("v", "a")]).toEqual([null, null]);
  });

  test("keeps receipts by user and request id until they are deleted or expire", ({ storage, reopen }) => {
    const { receipts } = storage;
    const receipt = { userId: "u", requestId: "r", fingerprint: "f", answer: "{}" };
    expect([receipts.find("u", "r"), receipts.newest("u")]).toEqual([null, null]);
    receipts.insert({ ...receipt, number: 1, total: 2, at: 10 });
    receipts.insert({ ...receipt, requestId: "s", number: 2, total: 4, at: 20 });
    receipts.insert({ ...receipt, userId: "v", number: 1, total: 2, at: 30 });
    fold(storage);
    const again = { ...receipt, answer: "[]", number: 3, total: 6, at: 40 };
    receipts.insert(again);
    expect(storage.read("SELECT 1 FROM journal")).toHaveLength(1);
    const look = () => {
      for (const table of [receipts, reopen().receipts]) {
        expect(table.find("u", "r")).toEqual(again);
        expect(table.find("u", "s")?.number).toBe(2);
        expect([table.find("u", "x"), table.find("w", "r")]).toEqual([null, null]);
        expect([table.newest("u"), table.newest("v"), table.newest("w")]).toMatchObject([
          { number: 3, total: 6 },
          { number: 1, total: 2 },
          {},
        ]);
      }
    };
    look();
    fold(storage);
    look();
    receipts.rewriteNaming("[]", () => '["new"]');
    expect([reopen().receipts.find("u", "r")?.answer, receipts.find("u", "s")?.answer]).toEqual([
      '["new"]',
      "{}",
    ]);
    receipts.deleteUser("u");
    for (const table of [receipts, reopen().receipts])
      expect([table.find("u", "r"), table.newest("u"), table.find("v", "r")?.number]).toEqual([
        null,
        null,
        1,
      ]);
  });

  test("counts comments and their bytes as they are created, changed and deleted", ({ storage, reopen }) => {
    const { comments } = storage;
    const [a, b, c, d] = [1, 2, 3, 4].map((seq) => commentIdOf(seq, crypto.randomUUID())) as Ids;
    comments.insert(newComment(a, { seq: 1, comment: '"a"' }));
    comments.insert(newComment(b, { seq: 2, comment: '"b"' }));
    comments.update(newComment(b, { comment: '"é!"' }));
    const expectTotals = (totals: object) => {
      for (const each of [comments, reopen().comments]) expect(each.totals()).toEqual(totals);
    };
    expectTotals({ comments: 2, bytes: 8 });
    comments.delete(a);
    expectTotals({ comments: 1, bytes: 5 });
    comments.insert(newComment(c, { seq: 3, threadId: b }));
    expectTotals({ comments: 2, bytes: 7 });
    comments.insert(newComment(d, { seq: 4 }));
    comments.delete(d); // the latest thread
    expectTotals({ comments: 2, bytes: 7 });
    comments.insert(newComment(d, { seq: 4 }));
    comments.endThread(b, null);
    expectTotals({ comments: 1, bytes: 2 });
    comments.delete(b);
    expectTotals({ comments: 1, bytes: 2 });
    comments.delete(d);
    expectTotals({ comments: 0, bytes: 0 });
  });

  test("finds a comment by its own ID alone", ({ storage: { comments } }) => {
    const [id = ""] = [7, 2 ** 49 + 1, Number.MAX_SAFE_INTEGER].map((seq) => {
      const each = z.uuid().parse(commentIdOf(seq, crypto.randomUUID()));
      comments.insert(newComment(each, { seq }));
      expect(comments.find(each)).toMatchObject({ id: each, seq });
      return each;
    });
    for (const other of [commentIdOf(7, crypto.randomUUID()), id.toUpperCase(), id.slice(-12), "7", "", "x"])
      expect([comments.find(other), comments.hasThread(other)]).toEqual([null, false]);
  });

  test("never gives the number of a document again: a reader may know it", ({ storage, reopen }) => {
    const first = storage.documents.insert("notes", 1);
    storage.documents.delete(first.id);
    expect(reopen().documents.insert("notes", 1).id).toBe(first.id + 1);
  });

  test("keeps a participant's place in the occupancy period, and the latest join", ({ storage }) => {
    const { occupancy } = storage;
    for (const [id, joinedAt] of [
      ["u1", 1],
      ["u2", 2],
      ["u1", 3],
    ] as const)
      occupancy.put({ user: userRecord(id), joinedAt }, joinedAt);
    expect(occupancy.list().map(({ user: { id }, joinedAt }) => [id, joinedAt])).toEqual([
      ["u1", 3],
      ["u2", 2],
    ]);
  });

  test("undoes a transaction that throws, even the very first write", ({ storage, reopen }) => {
    const failing = (work: () => void) => () =>
      storage.transaction(() => {
        work();
        throw new Error("on purpose");
      });
    expect(failing(() => storage.writeRecord(RECORD))).toThrow("on purpose");
    expect(reopen().readRecord()).toBeNull();
    expect(storage.readRecord()).toBeNull();

    storage.transaction(() => {
      storage.writeRecord(RECORD);
      storage.insertSession(session("s1", "u1"));
    });
    const work = failing(() => {
      storage.endSession("u1", 20);
      storage.insertSession(session("s2", "u2"));
      storage.updateUser(userRecord("u2", { name: "New" }));
      storage.deleteSessions("u1");
      storage.changes.append(...change(2, "k"));
      storage.changes.dropAll(() => true);
      const receipt = { userId: "u", requestId: "r", fingerprint: "f", answer: "{}" };
      storage.receipts.insert({ ...receipt, number: 1, total: 1, at: 1 });
      storage.entries.writeSize("s", { entries: 1, bytes: 1 });
      storage.comments.insert(newComment("c"));
      storage.threads.writeState("c", { subject: "u", userId: "u" }, { ...NO_STATE, readSeq: 1 });
      storage.threads.writeSettings({ subject: "u", userId: "u" }, DEFAULT_SETTINGS);
      storage.inboxUpdates.append("n", "{}");
      storage.follows.insert("a", "b");
      storage.events.append({ id: "e", event: "session.closed", occurredAt: 1, body: "{}" });
      storage.changedStores.note({ store: "s", fromSeq: 1, cause: null });
      storage.documentNotes.note({
        event: "document.created",
        document: "d",
        seq: 1,
        name: null,
        cause: null,
      });
      storage.occupancy.put({ user: userRecord("u1"), joinedAt: 1 }, 1);
      storage.clear();
      storage.writeRecord({ ...RECORD, version: 9 });
    });
    storage.changes.append(...change(1, "j"));
    expect(work).toThrow("on purpose");
    expect([storage.changes.readDroppedSeq(), storage.changes.listAfter(0)]).toEqual([
      0,
      [change(1, "j")[0]],
    ]);
    expect([storage.receipts.find("u", "r"), storage.receipts.newest("u")]).toEqual([null, null]);
    expect([
      storage.changes.lastSeq(),
      [...storage.entries.scan("s", null)],
      storage.entries.listStores(),
    ]).toEqual([1, [{ key: "j", value: "1", version: 1 }], []]);
    expect(storage.entries.totals()).toEqual({ stores: 0, bytes: 0 });
    expect([storage.comments.find("c"), storage.follows.list(10)]).toEqual([null, []]);
    expect([storage.events.list(9), storage.occupancy.list()]).toEqual([[], []]);
    expect([storage.changedStores.list(), storage.documentNotes.list()]).toEqual([[], []]);
    expect(reopen().readRecord()).toEqual(RECORD);
    expect(storage.listOpenSessions()).toEqual([session("s1", "u1")]);
  });

  test("knows no store and no session once its tables are erased, and begins again", ({
    storage,
    reopen,
  }) => {
    storage.entries.writeSize("s", { entries: 3, bytes: 4 });
    storage.entries.writeSize("t", { entries: 1, bytes: 2 });
    storage.entries.writeSize("t", { entries: 0, bytes: 0 });
    expect(storage.entries.totals()).toEqual({ stores: 1, bytes: 4 });
    storage.insertSession(session("s1", "u1"));
    storage.clear();
    expect(storage.entries.totals()).toEqual({ stores: 0, bytes: 0 });
    expect(storage.entries.size("s")).toEqual({ entries: 0, bytes: 0 });
    expect(storage.listOpenSessions()).toEqual([]);
    storage.insertSession(session("s1", "u1"));
    expect(reopen().listOpenSessions()).toEqual([session("s1", "u1")]);
  });
});
