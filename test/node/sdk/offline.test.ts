/** `atrium/offline`: what is kept on the device opens at once, is sent under its old ids, and never breaks a client. */

import type { AtriumError } from "atrium/client";
import { keepOffline, memoryStorage, type OfflineStorage, type RejectedWrite } from "atrium/offline";
import { beforeAll, describe, expect, it } from "vitest";
import { type SharedService, sharedService } from "../cli/shared-service.ts";
import { clientOf, meet, nextOf } from "./clients.ts";
import { writtenDuring } from "./console.ts";
import { ModelClient, settle } from "./model/model-client.ts";
import { ModelRoom } from "./model/model-room.ts";
import { OfflinePage } from "./model/offline-page.ts";
import { BreakableProxy } from "./proxy.ts";

const SCOPE = "ws://localhost/ account room ada";
const QUIET = { closed: () => {}, announced: () => {} };

const openPage = async (room: ModelRoom, shared: OfflineStorage): Promise<OfflinePage> =>
  (await new OfflinePage(room, shared).open()).settle();

/** A page that ends with an unsent write, which the device has kept. */
async function crashWithWrite(room: ModelRoom, shared: OfflineStorage, key: string, value: unknown) {
  const page = await openPage(room, shared);
  page.model.socket?.cut();
  page.model.set(key, value);
  await settle();
  await page.storage.store();
  page.crash();
}

const userOf = (id: string, day: number) => ({
  ...{ id, room_id: "room", name: id, created_at: `2026-01-0${day}T00:00:00.000Z` },
  ...{ role: "editor" as const, status: "offline" as const },
});

async function keptWrites(shared: OfflineStorage) {
  const room = await shared.open(SCOPE, QUIET);
  const writes = await room.readWrites();
  room.close();
  return writes;
}

describe("a client that starts without a network", () => {
  it("opens its stores as they were, with its own unsent writes, and then reports differences only", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    for (const key of ["a", "b", "c", "d"]) room.write("notes", key, { key });
    await crashWithWrite(room, shared, "d", { key: "offline" });
    room.write("notes", "b", { key: "newer" });

    const second = await new OfflinePage(room, shared).open();
    expect(second.model.store.state).toBe("cached");
    expect(second.model.store.getAll()).toEqual({
      a: { key: "a" },
      b: { key: "b" },
      c: { key: "c" },
      d: { key: "offline" },
    });
    expect(second.model.client.hasUnsyncedChanges).toBe(true);
    const { length } = second.model.mirror.changes;
    await second.settle();
    expect(second.model.store.state).toBe("synced");
    expect(second.model.mirror.changes.slice(length)).toMatchObject([
      { key: "b", value: { key: "newer" }, reason: "remote" },
    ]);
    expect(second.model.mirror.isTrue).toBe(true);
    expect(second.model.client.hasUnsyncedChanges).toBe(false);
    expect(room.entries("notes")).toMatchObject({ d: { key: "offline" } });
    expect(await keptWrites(shared)).toEqual([]);
  });

  it("loads a store again when the room no longer has what it missed, and reports the differences", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    for (const key of ["a", "b", "c"]) room.write("notes", key, { key });
    (await openPage(room, shared)).crash();
    room.write("notes", "b", { key: "newer" });
    room.write("notes", "e", { key: "e" });
    room.forgetChanges();
    const second = await new OfflinePage(room, shared).open();
    const { length } = second.model.mirror.changes;
    await second.settle();
    expect(second.model.mirror.changes.slice(length)).toMatchObject([
      { key: "b", value: { key: "newer" }, reason: "resynced" },
      { key: "e", value: { key: "e" }, reason: "resynced" },
    ]);
    second.crash();
    const third = await new OfflinePage(room, shared).open();
    expect(third.model.store.getAll()).toEqual(room.entries("notes"));
  });

  it("loads a store again when the room was replaced by a backup that has as many changes by now (R79)", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    for (const key of ["a", "b"]) room.write("notes", key, { key });
    const first = await openPage(room, shared);
    const restore = room.backUp();
    room.write("notes", "lost", 1);
    await first.settle();
    first.crash();
    restore();
    room.write("notes", "a", "restored");
    room.write("notes", "c", 3);

    const second = await new OfflinePage(room, shared).open();
    expect(second.model.store.getAll()).toEqual({ a: { key: "a" }, b: { key: "b" }, lost: 1 });
    const { length } = second.model.mirror.changes;
    await second.settle();
    expect(second.model.mirror.changes.slice(length)).toMatchObject([
      { key: "a", value: "restored", reason: "resynced" },
      { key: "c", value: 3, reason: "resynced" },
      { key: "lost", value: undefined, reason: "resynced" },
    ]);
    second.crash();
    const third = await new OfflinePage(room, shared).open();
    expect(third.model.store.getAll()).toEqual(room.entries("notes"));
    await third.settle();
    expect(third.model.store.getAll()).toEqual(room.entries("notes"));
  });

  it("knows its own user, and is notified of each who is online once it has joined", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    const [ada, bo, cy] = [userOf("ada", 1), userOf("bo", 2), userOf("cy", 3)];
    room.users = [cy, bo, ada];
    room.come(ada);
    (await openPage(room, shared)).crash();
    room.come(bo);

    const { model } = await new OfflinePage(room, shared).open();
    const { client } = model;
    expect(client.currentUser).toMatchObject({ id: "ada", name: "ada", status: "offline" });
    const events: unknown[] = [];
    for (const event of ["userJoined", "userCreated", "userUpdated", "userLeft"] as const)
      client.users.on(event, ({ id }) => events.push([event, id]));
    await model.deliverAll();
    expect([client.currentUser?.status, events]).toEqual(["online", [["userJoined", "bo"]]]);
    expect(client.users.getAll().map(({ id }) => id)).toEqual(["ada", "bo", "cy"]);
    room.come(cy);
    await model.deliverAll();
    expect(events.at(-1)).toEqual(["userJoined", "cy"]);
  });

  it("keeps the users of one device apart", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    room.write("notes", "a", 1);
    (await openPage(room, shared)).crash();
    const other = await new OfflinePage(room, shared, "bo").open();
    expect(other.model.store.state).toBe("unloaded");
    expect(other.model.store.getAll()).toEqual({});
  });
});

describe("unsent writes", () => {
  it("are reported when the room refuses them after a reload", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    await crashWithWrite(room, shared, "a", { key: "refused" });
    room.isRefused = () => true;
    const second = await new OfflinePage(room, shared).open();
    expect(second.model.store.get("a")).toEqual({ key: "refused" });
    await second.settle();
    expect(second.rejected).toMatchObject([
      {
        roomId: "room",
        store: "notes",
        key: "a",
        action: "set",
        value: { key: "refused" },
        error: { code: "CONFLICT" },
      },
    ]);
    expect(second.model.store.get("a")).toBeUndefined();
    expect(second.model.mirror.changes.at(-1)).toMatchObject({ key: "a", reason: "reverted", userId: "ada" });
    expect(await keptWrites(shared)).toEqual([]);
  });

  it("are reported in the console when the application does not listen", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    await crashWithWrite(room, shared, "a", "refused");
    room.isRefused = () => true;
    const written = await writtenDuring(async () => {
      const second = new ModelClient(room, "ada", keepOffline({ storage: shared }));
      void second.client.join();
      await settle();
      await second.deliverAll();
    });
    expect(written).toEqual([`error: AtriumError: Refused`]);
  });

  it("are sent only when the id of their batch is kept", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    const page = await openPage(room, shared);
    page.model.set("a", 1);
    await page.model.deliverAll();
    expect(room.applied).toEqual([]);
    await page.settle();
    expect(room.applied).toHaveLength(1);
  });

  it("stay with their tab while it lives, and are continued by another one when it is gone", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    const [first, second] = [await openPage(room, shared), await openPage(room, shared)];
    first.model.socket?.cut();
    first.model.set("a", "mine");
    await settle();
    await first.storage.store();
    await second.settle();
    expect(room.entries("notes")).toEqual({});
    expect(second.model.client.hasUnsyncedChanges).toBe(false);
    first.crash();
    await settle();
    expect(second.model.store.get("a")).toBe("mine");
    await second.settle();
    expect(room.entries("notes")).toEqual({ a: "mine" });
  });

  it("stay kept when the client disconnects, and are sent when it joins again", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    const page = await openPage(room, shared);
    page.model.socket?.cut();
    page.model.set("a", "kept");
    const discarded: unknown[] = [];
    page.model.client.on("changesDiscarded", (event) => discarded.push(event));
    await settle();
    page.model.client.disconnect();
    expect(page.model.store.get("a")).toBeUndefined();
    await page.settle();
    await page.open();
    expect(page.model.store.get("a")).toBe("kept");
    await page.settle();
    expect([room.entries("notes"), discarded]).toEqual([{ a: "kept" }, []]);
    expect(page.model.mirror.isTrue).toBe(true);
  });

  it("are continued by another tab also when their own has disconnected and joined again", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    const [first, second] = [await openPage(room, shared), await openPage(room, shared)];
    first.model.socket?.cut();
    first.model.set("a", "before");
    await settle();
    first.model.client.disconnect();
    await first.settle();
    await (await first.open()).settle();
    first.model.socket?.cut();
    first.model.set("b", "after");
    await settle();
    await first.storage.store();
    await settle();
    first.crash();
    await second.settle();
    expect(room.entries("notes")).toEqual({ a: "before", b: "after" });
  });

  it("of one page after another are shown and sent in the order in which they were made", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    for (let reload = 1; reload <= 8; reload += 1) {
      const page = await new OfflinePage(room, shared).open();
      page.model.set("a", reload);
      page.model.setAll([["b", reload]]);
      await settle();
      while (!page.storage.isIdle) await page.storage.store();
      expect(page.model.store.getAll()).toEqual({ a: reload, b: reload });
      page.crash();
    }
    const last = await new OfflinePage(room, shared).open();
    expect(last.model.store.getAll()).toEqual({ a: 8, b: 8 });
    while (last.model.client.hasUnsyncedChanges) await last.settle();
    const values = (key: string) => room.applied.filter((each) => each.key === key).map(({ value }) => value);
    const inOrder = [1, 2, 3, 4, 5, 6, 7, 8];
    expect([values("a"), values("b"), await keptWrites(shared)]).toEqual([inOrder, inOrder, []]);
  });

  it("are sent at any age unless they may have been carried out already: then they are reported", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    const kept = await shared.open(SCOPE, QUIET);
    const write = {
      writer: "gone",
      store: "notes",
      action: "set",
      value: 1,
      ifVersion: undefined,
      group: null,
    } as const;
    const longAgo = Date.now() - 25 * 3_600_000;
    await kept.apply({
      writes: [
        { ...write, number: 1, key: "sent", batch: { requestId: "1", at: longAgo } },
        { ...write, number: 2, key: "just sent", batch: { requestId: "2", at: Date.now() } },
        { ...write, number: 3, key: "waiting", batch: null },
      ],
      settled: [],
      stores: null,
    });
    const page = await openPage(room, shared);
    expect(room.entries("notes")).toEqual({ "just sent": 1, waiting: 1 });
    expect(page.rejected).toMatchObject([{ key: "sent", error: { code: "OUTCOME_UNKNOWN" } }]);
    expect(await keptWrites(shared)).toEqual([]);
  });
});

describe("unsent writes of another tab", () => {
  /** Both tabs have opened, and are without a network. */
  async function offlineTabs() {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    room.write("notes", "a", "old");
    const [first, second] = [await openPage(room, shared), await openPage(room, shared)];
    for (const { model } of [first, second]) model.socket?.cut();
    return { room, shared, first, second };
  }

  /** Opens a page while another one stores the stores: it waits a moment for that one's end. */
  async function openAlso(page: OfflinePage): Promise<OfflinePage> {
    await page.open();
    page.model.clock.advance(500);
    await settle();
    return page;
  }

  /** Stores a page's writes, and lets the others read them. */
  async function share(from: OfflinePage, ...to: readonly OfflinePage[]): Promise<void> {
    await settle();
    while (!from.storage.isIdle) await from.storage.store();
    await settle();
    for (const { model } of to) model.clock.advance(100);
    await settle();
  }

  it("are shown as they change, what was written last on top, and are sent by their own tabs", async () => {
    const { room, first, second } = await offlineTabs();
    first.model.set("a", "one");
    first.model.delete("b");
    await share(first, second);
    expect(second.model.store.get("a")).toBe("one");
    expect(second.model.client.hasUnsyncedChanges).toBe(false);
    first.model.set("a", "two");
    first.model.set("c", "three");
    await share(first, second);
    expect(second.model.store.getAll()).toEqual({ a: "two", c: "three" });
    second.model.set("a", "four");
    await share(second, first);
    expect(first.model.store.getAll()).toEqual({ a: "four", c: "three" });
    first.model.update("c", { x: 1 });
    first.model.set("a", "five");
    await share(first, second);
    expect(second.model.store.get("a")).toBe("five");
    expect(second.model.mirror.changes.at(-1)).toMatchObject({
      ...{ key: "a", previous: "four", value: "five", action: "set", reason: "remote", userId: "ada" },
    });
    for (const { model } of [first, second]) expect(model.mirror.isTrue).toBe(true);
    for (const page of [first, second, first, second]) await page.settle();
    expect(room.applied.filter(({ key }) => key === "a")).toHaveLength(3);
    for (const { model } of [first, second]) {
      expect(model.store.getAll()).toEqual(room.entries("notes"));
      expect(model.store.unconfirmed).toEqual([]);
      expect(model.mirror.isTrue).toBe(true);
    }
  });

  it("stay visible without a flicker until what the room made of them is", async () => {
    const { room, first, second } = await offlineTabs();
    first.model.set("a", "mine");
    await share(first, second);
    const { length } = second.model.mirror.changes;
    await first.settle();
    await share(first, second);
    expect(room.entries("notes")).toEqual({ a: "mine" });
    expect(second.model.socket?.isOpen).toBe(false);
    expect(second.model.store.get("a")).toBe("mine");
    await second.settle();
    expect(second.model.store.unconfirmed).toEqual([]);
    expect(second.model.mirror.changes).toHaveLength(length);
  });

  it("are taken back when the room refuses them", async () => {
    const { room, first, second } = await offlineTabs();
    first.model.set("a", "refused");
    await share(first, second);
    room.isRefused = () => true;
    await first.settle();
    await second.settle();
    expect(second.model.store.getAll()).toEqual({ a: "old" });
    expect(second.model.mirror.changes.at(-1)).toMatchObject({ key: "a", value: "old", reason: "reverted" });
    expect(second.rejected).toEqual([]);
  });

  it("are shown at once by a tab that opens, and by one that is opened again while another one is open", async () => {
    const { room, shared, first, second } = await offlineTabs();
    first.model.set("a", "mine");
    await share(first, second);
    const third = await openAlso(new OfflinePage(room, shared));
    expect(third.model.store.getAll()).toEqual({ a: "mine" });
    first.crash();
    await settle();
    expect(second.model.client.hasUnsyncedChanges).toBe(true);
    const again = await openAlso(new OfflinePage(room, shared));
    const pages = [second, third, again];
    for (const { model } of pages) expect(model.store.getAll()).toEqual({ a: "mine" });
    for (const page of [...pages, ...pages]) await page.settle();
    expect(room.applied).toHaveLength(2);
    for (const { model } of pages) {
      expect(model.store.unconfirmed).toEqual([]);
      expect(model.mirror.isTrue).toBe(true);
    }
  });

  it("keep their place below newer ones when another tab takes them over", async () => {
    const { room, shared, first, second } = await offlineTabs();
    const third = await openAlso(new OfflinePage(room, shared));
    third.model.socket?.cut();
    first.model.set("a", "older");
    await share(first, second, third);
    third.model.set("a", "newer");
    await share(third, second);
    first.crash();
    await share(second, third);
    for (const { model } of [second, third]) expect(model.store.get("a")).toBe("newer");
    expect(third.model.mirror.changes.at(-1)).toMatchObject({ value: "older" });
    const { length } = third.model.mirror.changes;
    for (const page of [second, third, second, third]) await page.settle();
    expect(third.model.mirror.changes).toHaveLength(length);
    for (const { model } of [second, third]) {
      expect(model.store.getAll()).toEqual(room.entries("notes"));
      expect(model.store.unconfirmed).toEqual([]);
    }
  });

  it("disappear with the client that shows them, and come back with it", async () => {
    const { first, second } = await offlineTabs();
    first.model.set("a", "mine");
    await share(first, second);
    second.model.client.disconnect();
    expect(second.model.store.get("a")).toBe("old");
    await settle();
    await openAlso(second);
    expect(second.model.store.get("a")).toBe("mine");
    expect(second.model.mirror.isTrue).toBe(true);
  });
});

describe("a storage that fails", () => {
  /** Passes everything on, until it is full. */
  class FullStorage implements OfflineStorage {
    readonly #shared = memoryStorage();
    isFull = false;

    async open(...[scope, listener]: Parameters<OfflineStorage["open"]>) {
      const room = await this.#shared.open(scope, listener);
      const apply: typeof room.apply = async (change) => {
        if (this.isFull && change.writes.length > 0) throw new Error("QuotaExceededError");
        await room.apply(change);
      };
      return { ...room, apply };
    }

    clear = () => this.#shared.clear();
  }

  it("is reported once, keeps nothing that another client would send again, and lets the client go on", async () => {
    const [room, shared, errors] = [new ModelRoom(), new FullStorage(), [] as AtriumError[]];
    const offline = keepOffline({ storage: shared, onError: (error) => errors.push(error) });
    const page = new ModelClient(room, "ada", offline);
    void page.client.join();
    await settle();
    await page.deliverAll();
    page.socket?.cut();
    page.set("a", 1);
    await settle();
    expect(await keptWrites(shared)).toHaveLength(1);
    shared.isFull = true;
    page.set("b", 2);
    page.set("c", 3);
    await settle();
    expect(await keptWrites(shared)).toEqual([]);
    page.clock.advance(1_000);
    await settle();
    await page.deliverAll();
    expect(room.entries("notes")).toEqual({ a: 1, b: 2, c: 3 });
    expect(errors).toMatchObject([
      { code: "STORAGE_FAILED", message: expect.stringContaining("QuotaExceeded") },
    ]);
  });

  it("while it hangs does not let a later write overtake the ones that it holds up", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    let close = (_reason: string) => {};
    const hanging: OfflineStorage = {
      ...shared,
      open: async (scope, listener) => {
        close = listener.closed;
        return { ...(await shared.open(scope, listener)), apply: () => new Promise(() => {}) };
      },
    };
    const page = new ModelClient(room, "ada", keepOffline({ storage: hanging, onError: () => {} }));
    void page.client.join();
    await settle();
    await page.deliverAll();
    page.set("a", 1);
    await settle();
    close("it was deleted");
    page.set("b", 2);
    await settle();
    page.clock.advance(16);
    await settle();
    await page.deliverAll();
    expect(room.applied).toEqual([]);
    page.clock.advance(60_000);
    await settle();
    await page.deliverAll();
    expect(room.applied).toMatchObject([{ key: "a" }, { key: "b" }]);
  });

  it.each([
    ["rejects", () => Promise.reject(new Error("Blocked")), 0],
    ["never opens", () => new Promise<never>(() => {}), 60_000],
  ])("and %s does not keep the client from joining", async (_, open, reportedAfterMs) => {
    const [room, errors] = [new ModelRoom(), [] as AtriumError[]];
    room.write("notes", "a", 1);
    const storage: OfflineStorage = { open, clear: async () => {} };
    const page = new ModelClient(
      room,
      "ada",
      keepOffline({ storage, onError: (error) => errors.push(error) }),
    );
    void page.client.join();
    page.sync();
    await settle();
    page.clock.advance(6_000);
    await settle();
    await page.deliverAll();
    expect(page.store.getAll()).toEqual({ a: 1 });
    page.clock.advance(reportedAfterMs);
    await settle();
    expect(errors).toHaveLength(1);
  });

  /** A client whose storage has entries, and has not opened after six seconds. */
  async function openSlowly() {
    const [room, shared, errors] = [new ModelRoom(), memoryStorage(), [] as AtriumError[]];
    room.write("notes", "a", 1);
    (await openPage(room, shared)).crash();
    const { promise, resolve } = Promise.withResolvers<void>();
    const open: OfflineStorage["open"] = (...scope) => promise.then(() => shared.open(...scope));
    const offline = keepOffline({ storage: { ...shared, open }, onError: (error) => errors.push(error) });
    const page = new ModelClient(room, "ada", offline);
    void page.client.join().catch(() => {}); // the page of a test may not come online
    const synced = page.store.sync();
    await settle();
    page.clock.advance(6_000);
    await settle();
    expect([page.store.state, errors]).toEqual(["unloaded", []]);
    return { room, shared, page, synced, errors, open: resolve };
  }

  it("and opens slowly while the client joins keeps its changes from then on", async () => {
    const { room, shared, page, synced, errors, open } = await openSlowly();
    await page.deliverAll();
    await synced;
    room.write("notes", "b", 2);
    await page.deliverAll();
    open();
    await settle();
    page.socket?.cut();
    page.set("c", 3);
    await settle();
    expect(await keptWrites(shared)).toMatchObject([{ key: "c" }]);
    page.clock.advance(1_000);
    await settle();
    await page.deliverAll();
    page.clock.advance(1_000);
    await settle();
    expect([await keptWrites(shared), errors]).toEqual([[], []]);
    page.socket?.cut();
    page.clock.stop();
    const kept = await shared.open(SCOPE, QUIET);
    expect((await kept.readStores())?.entries.map(({ key }) => key)).toEqual(["a", "b", "c"]);
  });

  it("and opens slowly without a network opens what it has as soon as it can", async () => {
    const { room, page, synced, errors, open } = await openSlowly();
    open();
    await synced;
    expect([page.store.state, page.store.getAll()]).toEqual(["cached", { a: 1 }]);
    await page.store.sync();
    room.write("notes", "b", 2);
    await page.deliverAll();
    expect([page.store.state, page.store.getAll(), errors]).toEqual(["synced", { a: 1, b: 2 }, []]);
    expect(page.mirror.isTrue).toBe(true);
  });

  it("or is cleared leaves nothing, and the client goes on in memory", async () => {
    const [room, shared] = [new ModelRoom(), memoryStorage()];
    room.write("notes", "a", 1);
    const page = await openPage(room, shared);
    await shared.clear();
    page.model.set("b", 2);
    await page.settle();
    expect(room.entries("notes")).toEqual({ a: 1, b: 2 });
    expect(page.errors).toHaveLength(1);
    const next = await new OfflinePage(room, shared).open();
    expect([next.model.store.state, await keptWrites(shared)]).toEqual(["unloaded", []]);
  });
});

describe("over the network", () => {
  let service: SharedService;
  beforeAll(async () => {
    service = await sharedService();
  });

  /** A client behind a network that can be shut, and its reports. */
  function openClient(token: string, serverUrl: string, storage: OfflineStorage) {
    const rejected: RejectedWrite[] = [];
    const offline = keepOffline({ storage, onRejected: (write) => rejected.push(write) });
    const client = clientOf({ token }, { serverUrl, offline });
    return { client, rejected, joined: client.join(), notes: client.store("notes") };
  }

  it("a reload without a network continues where the page was, and a conflict is reported", async () => {
    const { customer, roomId } = await meet(service);
    const { token } = await customer.createUser(roomId, "Ada");
    const [proxy, storage] = [await BreakableProxy.before(service), memoryStorage()];
    const first = openClient(token, proxy.url, storage);
    await first.joined;
    await first.notes.sync();
    await first.notes.set("1", "first");
    proxy.shut();
    await nextOf(first.client, "reconnecting");
    const outcomes = [
      first.notes.set("2", "offline"),
      first.notes.set("1", "mine", { ifVersion: first.notes.getVersion("1") }),
    ].map((write) => write.catch((error: AtriumError) => error.code));
    first.client.disconnect();
    expect(await Promise.all(outcomes)).toEqual(["DISCONNECTED", "DISCONNECTED"]);
    await customer.send("PUT", `/rooms/${roomId}/stores/notes/1`, { value: "theirs" });

    const second = openClient(token, proxy.url, storage);
    await second.notes.sync();
    expect([second.notes.state, second.notes.getAll()]).toEqual(["cached", { 1: "mine", 2: "offline" }]);
    proxy.open();
    await second.joined;
    await second.client.flush();
    expect([second.notes.state, second.notes.getAll()]).toEqual(["synced", { 1: "theirs", 2: "offline" }]);
    expect(second.rejected).toMatchObject([{ key: "1", value: "mine", error: { code: "CONFLICT" } }]);
    await proxy.close();
  });

  it("a room that was deleted leaves nothing on the device", async () => {
    const { customer, roomId } = await meet(service);
    const { token } = await customer.createUser(roomId, "Ada");
    const storage = memoryStorage();
    const { client, joined, notes } = openClient(token, service.url, storage);
    await joined;
    await notes.sync();
    await notes.set("1", "first");
    const failed = nextOf(client, "failed");
    await customer.send("DELETE", `/rooms/${roomId}`);
    expect((await failed).error.code).toBe("NOT_FOUND");
    const again = openClient(token, service.url, storage);
    await expect(again.joined).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(again.notes.state).toBe("unloaded");
  });
});
