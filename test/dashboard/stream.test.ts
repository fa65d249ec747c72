/** The stream of a room: one line for each thing that happened, whatever says so. */
import { describe, expect, it } from "vitest";
import { changedDocuments, itemOfFeed, mergeItems } from "../../src/dashboard/page/room/stream.ts";

const AT = new Date("2026-01-02T03:04:05.000Z");

const document = (name: string, seq: number, createdAt = "2026-01-01T00:00:00.000Z") => ({
  ...{ name, seq, bytes: 1, created_at: createdAt, updated_at: `2026-01-02T00:00:0${seq}.000Z` },
  ...{ participants: 0, participant_ids: [] },
});

describe("the stream", () => {
  it("says what was broadcast and written, and by whom", () => {
    const broadcast = { type: "broadcast", event: "ping", data: { n: 1 }, by: "u1" } as const;
    expect(itemOfFeed(broadcast, AT, 1, "Bo")).toEqual({
      ...{ id: "live 1", at: AT.toISOString(), name: "broadcast" },
      about: 'ping {"n":1} by Bo',
    });
    const write = { type: "write", store: "tasks", key: "milk", value: null, by: null } as const;
    const written = itemOfFeed({ ...write, isDeletion: false }, AT, 2, null);
    expect(written.about).toBe("tasks / milk: null by the back end");
    const deleted = itemOfFeed({ ...write, isDeletion: true }, AT, 3, "Bo");
    expect(deleted.about).toBe("tasks / milk: deleted by Bo");
  });

  it("says which documents were created, changed and deleted", () => {
    const before = [document("same", 1), document("changed", 1), document("gone", 1), document("again", 2)];
    const again = document("again", 1, "2026-01-02T00:00:00.000Z");
    const after = [document("same", 1), document("changed", 2), document("new", 1), again];
    expect(changedDocuments(before, after, AT).map(({ name, about }) => `${name}: ${about}`)).toEqual([
      "document.updated: changed",
      "document.created: new",
      "document.created: again",
      "document.deleted: gone",
    ]);
    expect(changedDocuments(after, after, AT)).toEqual([]);
  });

  it("has each item once, newest first, and no more than a page can show", () => {
    const item = (second: number) => ({
      id: `${second}`,
      at: new Date(second * 1000).toISOString(),
      name: "",
      about: "",
    });
    const many = Array.from({ length: 150 }, (_, second) => item(second));
    const merged = mergeItems(many, many.slice(100));
    expect(merged.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, index) => `${149 - index}`));
  });
});
