/** Document history that is older than it is kept, against plain Yjs documents. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import { AppError } from "@atrium/contract/errors.ts";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { documentTrailKeptMs } from "../../../src/platform/config.ts";
import { DocumentHistory } from "../../../src/room/documents/document-history.ts";
import { RoomDocuments } from "../../../src/room/documents/documents.ts";
import type { RoomStorage } from "../../../src/room/storage/storage.ts";
import type { Author, VersionInfo } from "../../../src/room/types/documents.ts";
import { test } from "../support/with-storage.ts";
import { ALL, FREE, openDocuments } from "./opened-documents.ts";
import { by, contentOf, edit, letters, missing, NOTHING_KNOWN, updatesOf } from "./yjs-edits.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const idsOf = (authors: readonly Author[]) => new Set(authors.map((author) => "id" in author && author.id));

/** Documents with versions and trails oldest first. */
function openAged(storage: RoomStorage, now = 1_000 * DAY_MS) {
  const opened = openDocuments(storage, now);
  const { clock, history, read } = opened;
  return {
    ...opened,
    read: (name: string, seq: number): readonly Uint8Array[] => read(name, seq) ?? [],
    versions: (name: string): readonly VersionInfo[] => [...(history.versions(name, ALL) ?? [])].reverse(),
    trail: (name: string) => [...(history.trail(name, ALL) ?? [])].reverse(),
    /** Start of old history: the start of a day, at least 30 days ago. */
    horizon: () => Math.floor((clock.now - FREE.trailKeptMs) / DAY_MS) * DAY_MS,
  };
}

describe("the old history of a document", () => {
  test("has one row between two of the versions that stay, and loses no operation and no author (D22)", ({
    storage,
    reopen,
  }) => {
    let document = 0;
    const waits = fc.constantFrom(
      0,
      1_000,
      DOCUMENT_LIMITS.versionQuietMs,
      DOCUMENT_LIMITS.versionQuietMs,
      DAY_MS,
      9 * DAY_MS,
      40 * DAY_MS,
    );
    const then = fc.constantFrom("nothing", "nothing", "fold", "restart", "name", "unname", "delete");
    fc.assert(
      fc.property(
        fc.array(edit, { minLength: 1, maxLength: 30 }),
        fc.array(fc.tuple(waits, then), { minLength: 3, maxLength: 20 }),
        (edits, steps) => {
          const name = `document ${document++}`;
          let room = openAged(storage);
          const writes = updatesOf(edits).map((written) => ({ ...written, at: 0 }));
          const expected = new Map<number, VersionInfo>();
          const learn = () => {
            for (const version of room.versions(name)) expected.set(version.seq, version);
          };
          const check = (written: typeof writes) => {
            const isKept = (version: VersionInfo) =>
              version.name !== null || version.createdAt >= room.horizon();
            for (const version of expected.values()) if (!isKept(version)) expected.delete(version.seq);
            const versions = room.versions(name);
            expect(versions.map(({ seq }) => seq)).toEqual(
              [...expected.keys()].sort((one, other) => one - other),
            );
            const trail = room.trail(name);
            let end = 0;
            for (const { seq, authors } of versions) {
              const had = written.slice(0, seq).map(({ update }) => update);
              expect(contentOf(room.read(name, seq))).toEqual(contentOf(had));
              const wrote = written.slice(end, seq).map(({ client }) => by(client));
              expect(idsOf(authors)).toEqual(idsOf(wrote));
              expect(trail.map((entry) => entry.seq)).toContain(seq);
              end = seq;
            }
            const plain = contentOf(written.map(({ update }) => update));
            expect(contentOf(missing(room.documents, name, NOTHING_KNOWN))).toEqual(plain);
            const rows = storage.documents.listUpdates(storage.documents.find(name)?.id ?? 0, 0);
            expect(contentOf(rows.map(({ data }) => data))).toEqual(plain);
            const young = written.filter(({ at }) => at >= room.horizon()).length;
            expect(rows.length).toBeLessThanOrEqual(versions.length + young + 1);
            let first = 0;
            for (const { seq, updates, firstAt, at, authors } of trail) {
              const joined = written.slice(first, seq);
              expect([updates, firstAt, at]).toEqual([joined.length, joined[0]?.at, joined.at(-1)?.at]);
              expect(idsOf(authors)).toEqual(idsOf(joined.map(({ client }) => by(client))));
              if (at >= room.horizon()) expect(authors).toHaveLength(1);
              first = seq;
            }
            expect(first).toBe(written.length);
            const stored = rows.reduce((sum, { data }) => sum + data.length, 0);
            expect(storage.documents.find(name)?.trailBytes).toBe(stored);
          };
          for (const [index, write] of writes.entries()) {
            const [wait = 0, next = "nothing"] = steps[index % steps.length] ?? [];
            room.clock.now += wait;
            write.at = room.clock.now;
            room.documents.append(name, write.update, by(write.client));
            learn();
            if (next === "restart") room = openAged(reopen(), room.clock.now);
            if (next === "fold") {
              room.documents.fold(name);
              check(writes.slice(0, index + 1));
            }
            if (next === "name") room.history.change(name, { type: "create", name: "v", by: by(0) });
            const seq = room.versions(name).at(-1)?.seq;
            if (next === "unname" && seq !== undefined)
              room.history.change(name, { type: "rename", seq, name: null, by: by(0) });
            if (next === "delete" && seq !== undefined) {
              room.history.change(name, { type: "delete", seq });
              expected.delete(seq);
            }
            learn();
          }
          const stored = reopen().documents.find(name);
          const isFolded = stored === null || reopen().documents.findTail(stored.id) === null;
          room.documents.fold(name);
          if (!isFolded) check(writes);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("is seen as it was at any time that is kept, also right after a long pause (D22)", ({ storage }) => {
    const { clock, documents, history, versions, read } = openAged(storage);
    const updates = letters(4);
    for (const update of updates) {
      documents.append("notes", update, by(0));
      documents.fold("notes");
      clock.now += 40 * DAY_MS;
    }
    const [kept, ...others] = versions("notes");
    expect([kept?.seq, others]).toEqual([3, []]);
    expect(contentOf(read("notes", 3))).toEqual(contentOf(updates.slice(0, 3)));
    expect(() => history.change("notes", { type: "delete", seq: 2 })).toThrow("Version not found");
  });

  test("does not stop a version from being made of the document as it is, before it is brought back (D21)", ({
    storage,
  }) => {
    const { clock, documents, history, versions } = openAged(storage);
    const [first = new Uint8Array(), second = new Uint8Array()] = letters(2);
    documents.append("notes", first, by(0));
    history.change("notes", { type: "create", name: "v", by: by(0) });
    history.change("notes", { type: "rename", seq: 1, name: null, by: by(0) });
    clock.now += 40 * DAY_MS;
    documents.fold("notes");
    expect(versions("notes")).toEqual([]);
    documents.append("notes", second, by(1), { keepsVersion: true });
    expect(versions("notes")).toMatchObject([{ seq: 1, name: null, createdAt: clock.now }]);
  });
});

test("a long history becomes old in pieces, a bounded one in each fold, and rows name a bounded set of authors (D22)", ({
  storage,
}) => {
  const { clock, documents, versions, trail } = openAged(storage);
  const total = DOCUMENT_LIMITS.agedVersions + DOCUMENT_LIMITS.agedEntries + 50;
  const [last, ...updates] = letters(total + 9).reverse();
  updates.reverse();
  const write = (update: Uint8Array = new Uint8Array(), author = 0) => {
    documents.append("notes", update, by(author));
    clock.now += DOCUMENT_LIMITS.versionQuietMs;
  };
  for (const [index, update] of updates.slice(0, total).entries())
    write(update, index % (DOCUMENT_LIMITS.authors + 20));
  documents.fold("notes");
  expect([versions("notes").length, trail("notes").length]).toEqual([total - 1, total]);
  clock.now += 40 * DAY_MS;
  const sizes = updates.slice(total).map((update) => {
    write(update);
    const before = { versions: versions("notes").length, rows: trail("notes").length };
    documents.fold("notes");
    const [dropped, joined] = [
      before.versions - versions("notes").length,
      before.rows - trail("notes").length,
    ];
    expect(dropped).toBeLessThanOrEqual(DOCUMENT_LIMITS.agedVersions);
    expect(joined).toBeLessThan(DOCUMENT_LIMITS.agedEntries);
    return { versions: versions("notes").length, rows: trail("notes").length };
  });
  expect(sizes.at(-1)).toEqual({ versions: 8, rows: 9 + Math.floor(total / DOCUMENT_LIMITS.agedEntries) });
  clock.now += DAY_MS;
  write(last);
  documents.fold("notes");
  const [oldest] = trail("notes");
  expect(oldest).toMatchObject({ seq: total, updates: total });
  expect(oldest?.authors).toEqual(Array.from({ length: DOCUMENT_LIMITS.authors }, (_, id) => by(id)));
  expect(contentOf(missing(documents, "notes", NOTHING_KNOWN)).state).toHaveLength(1);
});

test("the days are a setting of the deployment (D22)", () => {
  expect(documentTrailKeptMs({})).toBe(FREE.trailKeptMs);
  expect(documentTrailKeptMs({ DOCUMENT_TRAIL_DAYS: "7" })).toBe(7 * DAY_MS);
  for (const wrong of ["0", "-1", "1.5", "a month"])
    expect(() => documentTrailKeptMs({ DOCUMENT_TRAIL_DAYS: wrong })).toThrow(
      "The setting DOCUMENT_TRAIL_DAYS must be a whole number from 1 to 999999999; remove it to use 30",
    );
});

test("a document of which an update is refused for want of space gives up what is old of its history (D2, D22)", ({
  storage,
}) => {
  const clock = { now: 1_000 * DAY_MS };
  let isFull = false;
  const full = () => {
    if (isFull) throw new AppError("Rooms", "FORBIDDEN", "on purpose");
  };
  const ports = { ...FREE, storage, now: () => clock.now, quota: { require: full, changed: () => {} } };
  const documents = new RoomDocuments(ports);
  const history = new DocumentHistory(ports, documents);
  const [last = new Uint8Array(), ...others] = letters(101).reverse();
  for (const [index, update] of others.reverse().entries()) documents.append("notes", update, by(index % 2));
  documents.fold("notes");
  expect(history.trail("notes", ALL)).toHaveLength(100);
  const { bytes } = documents;
  clock.now += 40 * DAY_MS;
  isFull = true;
  const write = () => documents.append("notes", last, by(0));
  expect(write).toThrow("on purpose");
  expect(documents.isFoldDue("notes")).toBe(true);
  documents.fold("notes");
  expect(documents.isFoldDue("notes")).toBe(false);
  expect(history.trail("notes", ALL)).toMatchObject([{ seq: 100, updates: 100 }]);
  expect(documents.bytes).toBeLessThan(bytes);
  isFull = false;
  expect(write()).toBe(last);
  documents.fold("notes");
  const read = missing(new RoomDocuments(ports), "notes", NOTHING_KNOWN);
  expect(contentOf(read).text).toEqual([{ insert: "a".repeat(101) }]);
});
