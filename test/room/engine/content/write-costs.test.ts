/** Costs of writes to stores: written rows, which are most of a bill, and their effect on the disk. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { StoreOperation } from "@atrium/contract/operations/stores.ts";
import { describe, expect, it } from "vitest";
import { SqliteStorage } from "../../../../src/room/storage/storage.ts";
import { recordCursors } from "../../../support/recorded-cursors.ts";
import { openStores } from "../../support/room-ports.ts";
import { roomOfTwo } from "../../support/rooms.ts";

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

const sumOf = (costs: readonly Cost[]): number =>
  costs.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);

describe("a write", () => {
  it("writes one row, which grows: the journal's", () =>
    metered((write) => {
      for (const value of ["other", "much longer"])
        expect(write(set("key", value))).toMatchObject({ rowsWritten: 1, statements: 1 });
      expect(write(set("another", "one"))).toMatchObject({ rowsWritten: 1, statements: 2 });
      expect(write({ type: "STORE_DELETE", store: "s", key: "key" }).rowsWritten).toBe(1);
    }));

  it("writes few rows more when it is put in its place, with many others", () =>
    metered((write, tables) => {
      const alone = Array.from({ length: 2_048 }, (_, index) =>
        write(set(`${index % 256}`, `value ${index}`)),
      );
      expect(sumOf(alone)).toBeLessThan(1.5 * 2_048);
      const dragged = Array.from({ length: 2_048 }, (_, index) => write(set("shape", `${index} ${index}`)));
      expect(sumOf(dragged)).toBeLessThan(1.3 * 2_048);
      expect(tables.find("SELECT count(*) AS rows FROM entries")).toEqual({ rows: 258 });
    }));

  it("in a batch of 500 writes rows as long as fit, and one for each entry later", () =>
    metered((write, tables) => {
      const batch = (value: string) => Array.from({ length: 500 }, (_, key) => set(`${key}`, value));
      expect(write(...batch("first")).rowsWritten).toBe(2);
      expect(write(...batch("longer")).rowsWritten).toBe(2);
      expect(tables.entries.totals()).toEqual({ stores: 1, bytes: 5_400 });
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

it("writes that arrive at once share a row", async () => {
  const { room, atAda, atBen } = await roomOfTwo();
  const write = (key: number) => {
    const data = { store: "s", key: `${key}`, value: "some value" };
    return JSON.stringify({ type: "STORE_SET", requestId: `${key}`, data });
  };
  await atAda.call("STORE_SET", { store: "s", key: "key", value: "first" });
  const cursors = await room.inside((object, state) => {
    const recorded = recordCursors(state.storage.sql);
    for (const socket of state.getWebSockets())
      for (let key = 0; key < 20; key += 1) object.webSocketMessage(socket, write(key));
    return recorded;
  });
  for (const socket of [atAda, atBen])
    while (socket.events.length < 41) {
      const message = await socket.next();
      if (message.type === "event") socket.events.push(message);
    }
  expect(cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0)).toBeLessThan(4);
});
