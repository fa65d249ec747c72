/** The client over a network that breaks at any point: nothing is lost or applied twice, and every promise settles. */

import type { AtriumClient } from "atrium/client";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { eventually } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { clientOf, join, type Meeting, meet, nextOf } from "./clients.ts";
import { Clock } from "./clock.ts";
import { BreakableProxy } from "./proxy.ts";

let proxy: BreakableProxy;
let meeting: Meeting;
/** Ada connects through the proxy, Bo directly. */
let ada: AtriumClient;
let bo: AtriumClient;

const service = await sharedService();

beforeEach(async () => {
  proxy = await BreakableProxy.before(service);
  meeting = await meet(service);
  bo = await join(meeting, "Bo");
  ada = await join(meeting, "Ada", { serverUrl: proxy.url });
  await Promise.all([ada.store("notes").sync(), bo.store("notes").sync()]);
});
afterEach(() => proxy.close());

/** The changes to the notes that Bo sees from now on. */
function watchNotes(): string[] {
  const seen: string[] = [];
  bo.store("notes").on("changed", ({ key, action, value }) => seen.push(`${action} ${key} ${value}`));
  return seen;
}

describe("a connection that is cut", () => {
  it("says of each attempt why it failed", async () => {
    const statuses: unknown[] = [];
    const off = ada.socket.on("status", ({ status, error, attempt, retryAt }) => {
      if (status !== "reconnecting" || retryAt === null) return;
      statuses.push([attempt, error?.code]);
    });
    proxy.shut();
    await eventually("two attempts to fail", () => statuses.length >= 3);
    off();
    expect(statuses.slice(0, 3)).toEqual([
      [1, "DISCONNECTED"],
      [2, "CONNECTION_FAILED"],
      [3, "CONNECTION_FAILED"],
    ]);
    proxy.open();
  });

  it("fails for good when the room was deleted meanwhile", async () => {
    proxy.shut();
    await nextOf(ada, "reconnecting");
    await meeting.customer.send("DELETE", `/rooms/${meeting.roomId}`);
    const [failed, writing] = [nextOf(ada, "failed"), ada.store("notes").set("too", "late")];
    const refused = expect(writing).rejects.toMatchObject({ code: "NOT_FOUND" });
    proxy.open();
    expect((await failed).error).toMatchObject({ code: "NOT_FOUND" });
    await refused;
  });

  it("is reported, and reconnects with the events that it missed, in order", async () => {
    const reports: unknown[] = [];
    for (const event of ["connected", "disconnected", "reconnecting", "reconnected", "failed"] as const)
      ada.socket.on(event, () => reports.push([event, ada.socket.state]));
    const changes: unknown[] = [];
    ada.store("notes").on("changed", ({ key, value }) => changes.push([key, value]));
    ada.comments.on("created", ({ text }) => changes.push(text));
    ada.users.on("userJoined", ({ name, status }) => changes.push([name, status]));
    ada.users.on("userLeft", ({ name, status }) => changes.push([name, status]));
    const back = nextOf(ada, "reconnected").then(() => changes.push("reconnected"));
    proxy.shut();
    await eventually("Ada to notice", () => ada.socket.state === "reconnecting");
    await bo.store("notes").set("1", "one");
    await bo.store("notes").set("1", "two");
    await bo.comments.create({ text: "While you were away" });
    await join(meeting, "Cleo");
    bo.disconnect();
    proxy.open();
    await back;
    expect(changes).toEqual([
      ["1", "two"],
      "While you were away",
      ["Cleo", "online"],
      ["Bo", "offline"],
      "reconnected",
    ]);
    expect(ada.store("notes").getAll()).toEqual({ 1: "two" });
    expect(reports.at(0)).toEqual(["disconnected", "reconnecting"]);
    expect(reports.slice(1, -1)).toEqual(Array(reports.length - 2).fill(["reconnecting", "reconnecting"]));
    expect(reports.at(-1)).toEqual(["reconnected", "connected"]);
  });

  it("restores its presence and its presence subscriptions", async () => {
    ada.presence.update({ at: "desk", hat: 1, bag: 2 });
    ada.presence.sync("*", () => {});
    bo.presence.sync("*", () => {});
    bo.presence.update({ at: "balcony" });
    const cleo = await join(meeting, "Cleo");
    cleo.presence.update({ at: "window" });
    await eventually("Ada to see all", () => ada.presence.getStates().size === 3);
    proxy.shut();
    await eventually("Bo to see Ada leave", () => !bo.presence.getStates().has(ada.userId));
    cleo.disconnect();
    bo.presence.update({ at: "stairs" });
    ada.presence.update({ at: "sofa", bag: undefined });
    await eventually("Cleo to be gone", () => bo.presence.getStates().size === 1);
    const back = nextOf(ada, "reconnected");
    proxy.open();
    await back;
    expect(ada.presence.getStates().get(bo.userId)).toMatchObject({ at: "stairs" });
    expect(ada.presence.getStates().has(cleo.userId)).toBe(false);
    await eventually("Ada's state", () => bo.presence.getStates().get(ada.userId)?.at === "sofa");
    expect(bo.presence.getStates().get(ada.userId)).toEqual({
      color: expect.any(String),
      at: "sofa",
      hat: 1,
    });
  });

  it("sends the writes made meanwhile once, in order, and settles their promises", async () => {
    const seen = watchNotes();
    proxy.shut();
    await eventually("Ada to notice", () => ada.socket.state === "reconnecting");
    const writes = [
      ada.store("notes").set("1", "a"),
      ada.store("notes").set("2", "b"),
      ada.store("notes").set("1", "b"),
    ];
    const listed = ada.comments.list();
    expect(ada.store("notes").getAll()).toEqual({ 1: "b", 2: "b" });
    proxy.open();
    await Promise.all([...writes, listed]);
    await eventually("Bo to see all", () => seen.length === 2);
    expect(seen).toEqual(["set 1 b", "set 2 b"]);
  });

  it.each([0, 1, 7, 100])("after %i bytes of a write applies it once", async (bytes) => {
    const seen = watchNotes();
    proxy.cutAfter("up", bytes);
    await Promise.all([ada.store("notes").set("1", "a"), ada.store("notes").set("2", "b")]);
    await eventually("Bo to see both", () => seen.length === 2);
    expect(seen).toEqual(["set 1 a", "set 2 b"]);
    expect(proxy.accepted).toBe(2);
  });

  it.each([1, 2, 30, 60])("after %i bytes of the response to a write applies it once", async (bytes) => {
    const seen = watchNotes();
    proxy.cutAfter("down", bytes);
    await Promise.all([ada.store("notes").set("1", "a"), ada.store("notes").update("2", { b: 1 })]);
    await eventually("Bo to see both", () => seen.length === 2);
    expect(seen).toEqual(["set 1 a", "update 2 [object Object]"]);
    expect(ada.store("notes").getAll()).toEqual(bo.store("notes").getAll());
    expect(proxy.accepted).toBe(2);
  });

  it("between a write and its response applies it once, and emits no change to its writer", async () => {
    const [seen, reports] = [watchNotes(), [] as unknown[]];
    ada.store("notes").on("changed", (change) => reports.push(change));
    proxy.stall("down");
    const write = ada.store("notes").set("1", "a");
    await eventually("Bo to see it", () => seen.length === 1);
    await bo.store("notes").set("1", "b");
    proxy.cut();
    await write;
    await ada.store("notes").set("2", "c");
    await eventually("Bo to see the second", () => seen.length === 2);
    expect(seen).toEqual(["set 1 a", "set 2 c"]);
    const theirs = { action: "set", previous: "a", value: "b", userId: bo.userId, reason: "remote" };
    expect(reports).toEqual([{ key: "1", ...theirs }]);
    expect(ada.store("notes").getAll()).toEqual({ 1: "b", 2: "c" });
  });

  it("during the join joins after reconnecting", async () => {
    for (const bytes of [50, 400, 900]) {
      const user = await meeting.customer.createUser(meeting.roomId, "Cleo");
      const cleo = clientOf(user, { serverUrl: proxy.url });
      await cleo.connect();
      proxy.cutAfter("down", bytes);
      await cleo.join();
      expect(cleo.users.get({ userId: bo.userId })).toMatchObject({ name: "Bo", status: "online" });
      cleo.disconnect();
    }
  });

  it("closes the client without `reconnect`, and rejects pending writes", async () => {
    const user = await meeting.customer.createUser(meeting.roomId, "Cleo");
    const cleo = clientOf(user, { serverUrl: proxy.url, reconnect: false });
    await cleo.join();
    const failed = nextOf(cleo, "failed");
    proxy.stall("up");
    const write = cleo.store("notes").set("1", "a");
    const rejected = expect(write).rejects.toMatchObject({ code: "DISCONNECTED" });
    proxy.cut();
    await rejected;
    expect((await failed).error).toMatchObject({ code: "DISCONNECTED" });
    expect([cleo.socket.state, cleo.store("notes").getAll()]).toEqual(["closed", {}]);
  });
});

it("a client that missed too many changes fetches users and stores again before it reports that it reconnected, and keeps pending writes", async () => {
  const cleo = await meeting.customer.createUser(meeting.roomId, "Cleo");
  await eventually("Ada to know Cleo", () => ada.users.all.has(cleo.id));
  await ada.store("notes").set("gone", "soon");
  const reports: unknown[] = [];
  ada.users.on("userDeleted", ({ name }) => reports.push(["deleted", name]));
  ada.users.on("userCreated", ({ name }) => reports.push(["created", name]));
  ada.users.on("userUpdated", ({ name }) => reports.push(["updated", name]));
  proxy.shut();
  await eventually("Ada to notice", () => ada.socket.state === "reconnecting");
  const write = ada.store("notes").set("mine", "kept");
  await bo.store("notes").delete("gone");
  // More than the 1 MiB of changes, of each entry the latest, that the room replays after a reconnect.
  for (let index = 0; index < 20; index += 1) await bo.store("ballast").set(`${index}`, "a".repeat(60_000));
  await bo.store("notes").set("filler", "short");
  const { customer, roomId } = meeting;
  await customer.send("DELETE", `/users/${cleo.id}?roomId=${roomId}`);
  await customer.send("PATCH", `/users/${bo.userId}?roomId=${roomId}`, { name: "Bo B." });
  await customer.createUser(roomId, "Dan");
  const states: unknown[] = [];
  const back = nextOf(ada, "reconnected").then(() =>
    states.push(
      ada.store("notes").get("filler"),
      ada.users
        .getAll()
        .map(({ name }) => name)
        .sort(),
    ),
  );
  const changes: unknown[] = [];
  ada
    .store("notes")
    .on("changed", ({ key, value, reason, userId }) => changes.push([key, value, reason, userId]));
  const reported = nextOf(ada, "reconnected").then(() => [...changes]);
  proxy.open();
  await back;
  expect(states).toEqual(["short", ["Ada", "Bo B.", "Dan"]]);
  expect((await reported).toSorted()).toEqual([
    ["filler", "short", "resynced", null],
    ["gone", undefined, "resynced", null],
  ]);
  expect(reports.sort()).toEqual([
    ["created", "Dan"],
    ["deleted", "Cleo"],
    ["updated", "Bo B."],
  ]);
  await write;
  await eventually("Bo to see Ada's", () => bo.store("notes").get("mine") === "kept");
  expect(ada.store("notes").getAll()).toEqual(bo.store("notes").getAll());
  await bo.store("notes").set("after", 1);
  await eventually("Ada to see Bo's", () => ada.store("notes").get("after") === 1);
});

describe("a connection that goes silent without being closed", () => {
  it.each(["up", "down"] as const)(
    "%s is replaced 10 s after the next unanswered ping",
    async (direction) => {
      const clock = new Clock();
      const user = await meeting.customer.createUser(meeting.roomId, "Cleo");
      const cleo = clientOf(user, { serverUrl: proxy.url }, clock);
      await cleo.join();
      proxy.stall(direction);
      const write = cleo.store("notes").set("1", "a");
      clock.advance(20_000 + 9_999);
      expect(cleo.socket.state).toBe("connected");
      const [disconnected, back] = [nextOf(cleo, "disconnected"), nextOf(cleo, "reconnected")];
      clock.advance(1);
      expect(cleo.socket.state).toBe("reconnecting");
      expect(await disconnected).toMatchObject({ code: 1006 });
      clock.advance(1_000);
      await Promise.all([back, write]);
      expect(cleo.store("notes").get("1")).toBe("a");
    },
  );

  it.each(["online", "offline", "pageshow", "visibilitychange"])(
    "is asked for within 3 s after the page's event %s, and stays open if it answers",
    async (name) => {
      const clock = new Clock();
      vi.stubGlobal("document", { visibilityState: "visible" });
      onTestFinished(() => void vi.unstubAllGlobals());
      const user = await meeting.customer.createUser(meeting.roomId, "Cleo");
      const cleo = clientOf(user, { serverUrl: proxy.url }, clock);
      await cleo.join();
      clock.page.dispatchEvent(new Event(name));
      await cleo.comments.list(); // the answer follows the pong
      clock.advance(3_000);
      expect(cleo.socket.state).toBe("connected");
      proxy.stall("down");
      clock.page.dispatchEvent(new Event(name));
      clock.advance(2_999);
      expect(cleo.socket.state).toBe("connected");
      clock.advance(1);
      expect(cleo.socket.status).toMatchObject({ status: "reconnecting", attempt: 1 });
      // A returning page or network begins the next attempt at once.
      const back = nextOf(cleo, "reconnected");
      clock.page.dispatchEvent(new Event("pageshow"));
      await back;
    },
  );

  it("stays open as long as its pings are answered", async () => {
    const clock = new Clock();
    const user = await meeting.customer.createUser(meeting.roomId, "Cleo");
    const cleo = clientOf(user, { serverUrl: proxy.url }, clock);
    await cleo.join();
    for (let pings = 0; pings < 3; pings += 1) {
      clock.advance(20_000);
      // Responses arrive in order, so the ping has been answered when this one is.
      await cleo.comments.list();
    }
    clock.advance(19_999);
    expect(cleo.socket.state).toBe("connected");
    expect(proxy.accepted).toBe(2);
  });

  it("fails to connect when it is silent from the start", async () => {
    const clock = new Clock();
    const user = await meeting.customer.createUser(meeting.roomId, "Cleo");
    proxy.delayMs = 3_600_000;
    const connecting = clientOf(user, { serverUrl: proxy.url }, clock).connect();
    const rejected = expect(connecting).rejects.toMatchObject({ code: "CONNECTION_FAILED" });
    clock.advance(15_000);
    await rejected;
    proxy.delayMs = 0;
  });
});
