/** Costs of writes to stores: written rows, which are most of a bill, and their effect on the disk. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { StoreOperation } from "@atrium/contract/operations/stores.ts";
import { describe, expect, it } from "vitest";
import { SqliteStorage } from "../../../../src/room/storage/storage.ts";
import { recordCursors } from "../../../support/recorded-cursors.ts";
import { openStores } from "../../support/room-ports.ts";

interface Cost {
  readonly statements: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

const set = (key: string, value: string): StoreOperation => ({ type: "STORE_SET", store: "s", key, value });

/** Runs `work` with a function that makes one user's writes, each as a request, and returns the cost of each. */
const metered = (work: (write: (...operations: StoreOperation[]) => Cost, tables: SqliteStorage) => void) =>
  runInDurableObject(env.GUESS_LIMITS.getByName(crypto.randomUUID()), (_, { storage: { sql }, storage }) => {
    const cursors = recordCursors(sql);
    const tables = new SqliteStorage(storage);
    const { changes, stores } = openStores({ storage: tables });
    let number = 0;
    const write = (...operations: StoreOperation[]): Cost => {
      cursors.length = 0;
      const data = { operations, atomic: true };
      const request = { type: "STORE_BATCH", requestId: `request ${number}`, data } as const;
      number += 1;
      changes.once("ada", request, () => stores.applyAll(data, "ada"));
      const sumOf = (of: "rowsRead" | "rowsWritten") => cursors.reduce((sum, each) => sum + each[of], 0);
      return {
        statements: cursors.length,
        rowsRead: sumOf("rowsRead"),
        rowsWritten: sumOf("rowsWritten"),
      };
    };
    write(set("key", "first")); // creates the tables, and notes that the store has changed
    work(write, tables);
  });

describe("a write", () => {
  it("writes three rows: the entry, its change in place of the one before, and the receipt", () =>
    metered((write) => expect(write(set("key", "other"))).toMatchObject({ rowsWritten: 3, statements: 6 })));

  it("that changes the size of its store writes one row more", () =>
    metered((write, tables) => {
      expect(write(set("key", "longer"))).toMatchObject({ rowsWritten: 4, statements: 7 });
      expect(tables.entries.totals()).toEqual({ stores: 1, bytes: 11 });
    }));

  it("of a new entry, which replaces no change, writes four", () =>
    metered((write) => expect(write(set("another", "one")).rowsWritten).toBe(4)));

  it("that deletes an entry writes five, with the address of what is gone", () =>
    metered((write) => {
      write(set("another", "one"));
      expect(write({ type: "STORE_DELETE", store: "s", key: "key" }).rowsWritten).toBe(5);
      expect(write(set("key", "first")).rowsWritten).toBe(4);
    }));

  it("in a batch of 500 writes two, beside one for the store and one for the receipt", () =>
    metered((write) => {
      const batch = (value: string) => Array.from({ length: 500 }, (_, key) => set(`${key}`, value));
      expect(write(...batch("first")).rowsWritten).toBe(1_002);
      expect(write(...batch("longer")).rowsWritten).toBe(1_002);
    }));

  it("costs the same after one that is refused, even if that had written", () =>
    metered((write, tables) => {
      const cost = write(set("key", "other"));
      expect(() => write({ ...set("key", "third"), ifVersion: 1 })).toThrow("The entry has version 2");
      expect(write(set("key", "third"))).toEqual(cost);
      const refused = { ...set("key", "sixth"), ifVersion: 1 };
      expect(() => write(set("new", "longer"), refused)).toThrow("The entry has version 3");
      expect(tables.entries.totals()).toEqual({ stores: 1, bytes: 10 });
      write(set("key", "fifth"));
      expect(write(set("key", "sixth"))).toEqual(cost);
    }));
});
