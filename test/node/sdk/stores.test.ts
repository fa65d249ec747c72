/** Stores through the client: optimistic, typed, and in the end the same for everyone. */

import { type AtriumClient, defineStores, type StoreChange } from "atrium/client";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { clientOf, EAGER, join, meet, next, nextOf } from "./clients.ts";
import { Mirror, sorted } from "./mirror.ts";
import { BreakableProxy } from "./proxy.ts";

const STORES = defineStores({
  tasks: { title: { type: "string", required: true }, done: { type: "boolean", default: false } },
});

const service = await sharedService();

/** The changes by others that a store emits from now on. */
function changesOf(client: AtriumClient<typeof STORES>): StoreChange<unknown>[] {
  const changes: StoreChange<unknown>[] = [];
  client.stores.tasks.on("changed", (change) => changes.push(change));
  return changes;
}

async function pair(): Promise<[AtriumClient<typeof STORES>, AtriumClient<typeof STORES>]> {
  const meeting = await meet(service);
  const [ada, bo] = [
    await join(meeting, "Ada", { stores: STORES }),
    await join(meeting, "Bo", { stores: STORES }),
  ];
  await Promise.all([ada.stores.tasks.sync(), bo.stores.tasks.sync()]);
  return [ada, bo];
}

it("shows a write to its writer at once and to the others when it is confirmed, with defaults filled in", async () => {
  const [ada, bo] = await pair();
  const [atAda, atBo] = [changesOf(ada), changesOf(bo)];
  const written = ada.stores.tasks.set("1", { title: "Plan" });
  expect(ada.stores.tasks.getAll()).toEqual({ 1: { title: "Plan", done: false } });
  expect(ada.stores.tasks.getVersion("1")).toBe(0);
  const { version = 0 } = await written;
  expect(ada.stores.tasks.getVersion("1")).toBe(version);
  await ada.stores.tasks.update("1", { done: true });
  await ada.stores.tasks.delete("1");
  await eventually("Bo to receive all three", () => atBo.length === 3);
  const byAda = { key: "1", userId: ada.userId, reason: "remote" };
  const plan = { title: "Plan", done: false };
  expect(atBo).toEqual([
    { ...byAda, action: "set", previous: undefined, value: plan },
    { ...byAda, action: "update", previous: plan, value: { ...plan, done: true } },
    { ...byAda, action: "delete", previous: { ...plan, done: true }, value: undefined },
  ]);
  expect([ada.stores.tasks.getAll(), bo.stores.tasks.getAll(), atAda]).toEqual([{}, {}, []]);
});

it("rolls back a rejected write, and emits the rollback", async () => {
  const [ada, bo] = await pair();
  await ada.stores.tasks.set("1", { title: "Plan" });
  await eventually("Bo to see it", () => bo.stores.tasks.get("1") !== undefined);
  const before = bo.stores.tasks.getAll();
  let updates = 0;
  bo.stores.tasks.on("updated", () => {
    updates += 1;
  });
  const changes = changesOf(bo);
  const refused = bo.stores.tasks.update("1", { title: "Mine" }, { ifVersion: 999 });
  expect(bo.stores.tasks.get("1")?.title).toBe("Mine");
  await expect(refused).rejects.toMatchObject({ name: "AtriumError", code: "CONFLICT", module: "Rooms" });
  expect(bo.stores.tasks.getAll()).toEqual(before);
  expect(updates).toBe(2);
  const [mine, plan] = ["Mine", "Plan"].map((title) => ({ title, done: false }));
  expect(changes).toEqual([
    { key: "1", action: "set", previous: mine, value: plan, userId: bo.userId, reason: "reverted" },
  ]);
  await bo.stores.tasks.update("1", { done: true }, { ifVersion: bo.stores.tasks.getVersion("1") });
  await eventually("Ada to see it", () => ada.stores.tasks.get("1")?.done === true);
});

it("applies a batch as a whole or not at all", async () => {
  const [ada, bo] = await pair();
  const results = await ada.stores.tasks.batch([
    { action: "set", key: "1", value: { title: "Plan" } },
    { action: "update", key: "1", value: { done: true } },
    { action: "set", key: "2", value: { title: "Do" } },
    { action: "delete", key: "2" },
  ]);
  expect(results).toHaveLength(4);
  const refused = ada.stores.tasks.batch([
    { action: "delete", key: "1" },
    { action: "set", key: "3", value: { title: "Rest" }, ifVersion: 1 },
  ]);
  expect(Object.keys(ada.stores.tasks.getAll())).toEqual(["3"]);
  await expect(refused).rejects.toMatchObject({ code: "CONFLICT" });
  for (const client of [ada, bo]) {
    await eventually("both to agree", () => Object.keys(client.stores.tasks.getAll()).length === 1);
    expect(client.stores.tasks.getAll()).toEqual({ 1: { title: "Plan", done: true } });
  }
});

it("rejects a value that does not match its shape before sending it", async () => {
  const [ada, bo] = await pair();
  const untyped = ada.store("tasks") as unknown as { set(key: unknown, value: unknown): Promise<unknown> };
  const invalid = { name: "AtriumError", code: "VALIDATION_ERROR", module: "Stores" };
  await expect(untyped.set("1", { title: 1 })).rejects.toMatchObject(invalid);
  await expect(untyped.set(1, { title: "Plan" })).rejects.toMatchObject(invalid);
  const tooMuch = ada.store("free").set("1", "a".repeat(256 * 1024));
  await expect(tooMuch).rejects.toMatchObject({ code: "VALIDATION_ERROR", module: "Client" });
  await expect(ada.store("free").set("1", "a".repeat(193 * 1024))).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    module: "Rooms",
  });
  expect([ada.store("free").getAll(), ada.stores.tasks.getAll()]).toEqual([{}, {}]);
  await bo.stores.tasks.set("1", { title: "Still here" });
  await eventually("Ada to see it", () => ada.stores.tasks.get("1") !== undefined);
});

it("accepts any JSON under any key without shapes, even before it is synced", async () => {
  const meeting = await meet(service);
  const [ada, bo] = [await join(meeting, "Ada"), await join(meeting, "Bo")];
  const heard = next("the change", (listener: (change: StoreChange<unknown>) => void) =>
    bo.store("free").on("changed", listener),
  );
  const value = JSON.parse('{"__proto__":[null,true,"é"]}');
  await ada.store("free").set("__proto__", value);
  expect(await heard).toMatchObject({ key: "__proto__", action: "set", value, userId: ada.userId });
  await ada.store("free").set("two words", 2);
  const cleo = await join(meeting, "Cleo");
  await cleo.store("free").sync();
  expect(Object.entries(cleo.store("free").getAll())).toEqual([
    ["__proto__", value],
    ["two words", 2],
  ]);
});

it("takes a write as separate arguments or as one object, and has undefined for what is not there", async () => {
  const ada = await join(await meet(service), "Ada", { stores: STORES });
  const { tasks } = ada.stores;
  expect(tasks.get("1")).toBe(undefined);
  await tasks.set({ key: "1", value: { title: "Plan" }, ifVersion: 0 });
  await tasks.update({ key: "1", value: { done: true } });
  expect(tasks.get("1")).toEqual({ title: "Plan", done: true });
  const late = tasks.set({ key: "1", value: { title: "Late" }, ifVersion: 0 });
  await expect(late).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(tasks.delete({ key: "1", ifVersion: 0 })).rejects.toMatchObject({ code: "CONFLICT" });
  await tasks.delete({ key: "1" });
  expect(tasks.get("1")).toBe(undefined);
});

it("emits the changes that the user made in another tab and that the organization made", async () => {
  const { customer, roomId } = await meet(service);
  const user = await customer.createUser(roomId, "Ada");
  const tabs = [clientOf(user, { serverUrl: service.url }), clientOf(user, { serverUrl: service.url })];
  await Promise.all(tabs.map((tab) => tab.join()));
  const heard = tabs.map((tab) => {
    const changes: StoreChange<unknown>[] = [];
    tab.store("free").on("changed", (change) => changes.push(change));
    return changes;
  });
  await tabs[0]?.store("free").set("1", "here");
  await customer.send("PUT", `/rooms/${roomId}/stores/free/2`, { value: "there" });
  const remote = { action: "set", previous: undefined, reason: "remote" };
  const theirs = { ...remote, key: "2", value: "there", userId: null };
  for (const changes of heard) await eventually("the second change", () => changes.at(-1)?.key === "2");
  expect(heard).toEqual([[theirs], [{ ...remote, key: "1", value: "here", userId: user.id }, theirs]]);
});

it("lets a viewer read but not write", async () => {
  const { customer, roomId } = await meet(service);
  const viewer = clientOf(await customer.createUser(roomId), { serverUrl: service.url, stores: STORES });
  await viewer.join({ role: "viewer" });
  await viewer.stores.tasks.sync();
  const refused = viewer.stores.tasks.set("1", { title: "Plan" });
  await expect(refused).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect(viewer.stores.tasks.getAll()).toEqual({});
});

it("sends what was written 10,600 times while 200 shapes were resized in few frames, up to the last state", async () => {
  const meeting = await meet(service);
  const [ada, bo] = [await join(meeting, "Ada"), await join(meeting, "Bo")];
  await bo.store("shapes").sync();
  const sizes: number[] = [];
  bo.store("shapes").on("changed", ({ key, value }) => {
    if (key === "199") sizes.push(Object(value).width);
  });
  for (let step = 1; step <= 53; step += 1) {
    for (let shape = 0; shape < 200; shape += 1)
      void ada.store("shapes").set(`${shape}`, { width: step, text: "a".repeat(200) });
    if (step % 10 === 0) await ada.comments.list({ limit: 1 }); // lets some batches be sent on the way
  }
  expect(ada.hasUnsyncedChanges).toBe(true);
  await ada.flush();
  expect(ada.hasUnsyncedChanges).toBe(false);
  await eventually("Bo to see the last", () => sizes.at(-1) === 53);
  expect(bo.store("shapes").getAll()).toEqual(ada.store("shapes").getAll());
  expect(sizes.length).toBeLessThan(53);
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
});

it("keeps its connection whatever it writes itself, although it receives all of it again (R62)", async () => {
  const ada = await join(await meet(service), "Ada");
  const reports: unknown[] = [];
  ada.socket.on("disconnected", (closure) => reports.push(closure));
  const written = Array.from({ length: 200 }, (_, key) =>
    ada.store("large").set(`${key}`, "a".repeat(60_000)),
  );
  await Promise.all(written);
  expect([reports, Object.keys(ada.store("large").getAll()).length]).toEqual([[], 200]);
});

it("leaves when everything is stored, and reports what a disconnect discards", async () => {
  const meeting = await meet(service);
  const [ada, bo] = [await join(meeting, "Ada"), await join(meeting, "Bo")];
  await bo.store("notes").sync();
  const written = ada.store("notes").set("1", "kept");
  await ada.leave();
  await written;
  expect(ada.socket.state).toBe("closed");
  await eventually("Bo to see it", () => bo.store("notes").get("1") === "kept");

  const reports: unknown[] = [];
  bo.on("unsyncedChanges", (hasUnsynced) => reports.push(hasUnsynced));
  bo.on("changesDiscarded", ({ writes }) => reports.push(...writes));
  bo.store("notes").on("changed", ({ value, reason }) => reports.push([value, reason]));
  const refused = expect(bo.store("notes").set("1", "lost")).rejects.toMatchObject({ code: "DISCONNECTED" });
  bo.disconnect();
  await refused;
  expect(reports).toEqual([
    true,
    ["kept", "reverted"],
    false,
    { store: "notes", key: "1", action: "set", value: "lost" },
  ]);
});

it.each([
  ["its token was ended", "UNAUTHORIZED", "DELETE", "/users/USER/tokens?roomId=ROOM"],
  ["its user was removed", "UNAUTHORIZED", "DELETE", "/users/USER?roomId=ROOM"],
  ["its room was deleted", "NOT_FOUND", "DELETE", "/rooms/ROOM"],
] as const)(
  "counts and reports what is written after %s, with that reason",
  async (_, code, method, path) => {
    const meeting = await meet(service);
    const ada = await join(meeting, "Ada");
    const failed = nextOf(ada, "failed");
    await meeting.customer.send(method, path.replace("USER", ada.userId).replace("ROOM", meeting.roomId));
    const { message } = (await failed).error;
    const reports: unknown[] = [];
    ada.on("unsyncedChanges", (hasUnsynced) => reports.push(hasUnsynced));
    ada.on("changesDiscarded", ({ writes, error }) => reports.push(error.code, ...writes));
    const reason = { code, message };
    await expect(ada.store("notes").set("1", "late")).rejects.toMatchObject(reason);
    const write = { store: "notes", key: "1", action: "set", value: "late" };
    expect([ada.hasUnsyncedChanges, reports]).toEqual([true, [true, code, write]]);
    await expect(ada.notifications.broadcast("late", null)).rejects.toMatchObject(reason);
    await expect(ada.flush()).rejects.toMatchObject(reason);
    await expect(ada.leave()).rejects.toMatchObject(reason);
    expect([ada.hasUnsyncedChanges, reports.at(-1)]).toEqual([false, false]);
    await expect(ada.store("notes").set("1", "left")).rejects.toMatchObject({ code: "NOT_JOINED" });
  },
);

it("counts what a failure discards as unsynced until the client has joined again", async () => {
  const { customer, roomId } = await meet(service);
  const proxy = await BreakableProxy.before(service);
  onTestFinished(() => proxy.close());
  const ada = clientOf(await customer.createUser(roomId, "Ada"), { serverUrl: proxy.url });
  await ada.join();
  const reports: unknown[] = [];
  ada.on("unsyncedChanges", (hasUnsynced) => reports.push(hasUnsynced));
  ada.on("changesDiscarded", ({ writes }) => reports.push(writes.length));
  const lost = nextOf(ada, "reconnecting");
  proxy.shut();
  await lost;
  const refused = expect(ada.store("notes").set("1", "lost")).rejects.toMatchObject({ code: "FORBIDDEN" });
  await customer.send("PATCH", `/rooms/${roomId}`, { state: "closed" });
  proxy.open();
  await refused;
  await expect(ada.flush()).rejects.toMatchObject({ code: "FORBIDDEN" });
  await expect(ada.join()).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect([ada.hasUnsyncedChanges, reports]).toEqual([true, [true, 1]]);
  await customer.send("PATCH", `/rooms/${roomId}`, { state: "active" });
  await ada.join();
  expect([ada.hasUnsyncedChanges, reports]).toEqual([false, [true, 1, false]]);
});

it.each([
  ["by a download", (response: Response) => response],
  ["by a download that arrives at once", async (response: Response) => new Response(await response.text())],
  ["over the socket, if the download is refused", () => new Response(null, { status: 503 })],
  [
    "over the socket, after a part of the download was lost",
    async (response: Response) => new Response((await response.text()).slice(0, 2_600_000)),
  ],
])("opens a large store %s, as it is in the end, while it changes (R78)", async (_, through) => {
  const meeting = await meet(service);
  const bo = await join(meeting, "Bo");
  const [mine, keys] = [bo.store("large"), Array.from({ length: 30 }, (_each, index) => `${index}`)];
  await Promise.all(keys.map((key) => mine.set(key, "a".repeat(100_000))));
  await mine.sync();
  const statuses: number[] = [];
  const fetched = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await EAGER.fetch(url, init);
    statuses.push(response.status);
    return through(response);
  };
  const user = await meeting.customer.createUser(meeting.roomId, "Ada");
  const ada = clientOf(user, { serverUrl: service.url }, { ...EAGER, fetch: fetched });
  await ada.join();
  const theirs = ada.store("large");
  const mirror = new Mirror(theirs);
  const syncing = theirs.sync();
  await Promise.all([mine.set("3", "new"), mine.delete("5"), mine.set("30", "more"), syncing]);
  await eventually("the same entries", () => theirs.get("30") === "more" && theirs.get("5") === undefined);
  expect(sorted(theirs.getAll())).toEqual(sorted(mine.getAll()));
  expect([mirror.isTrue, statuses]).toEqual([true, [200]]);
});
