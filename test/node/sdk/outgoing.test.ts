/**
 * Outgoing messages of a client: before the first join too, within the service's budget, until answered or
 * given up.
 */
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { PendingRequests } from "../../../packages/sdk/client/connection/requests.ts";
import { frozen, toJson } from "../../../packages/sdk/core/json.ts";
import { sharedService } from "../cli/shared-service.ts";
import { clientOf, join, meet, nextOf } from "./clients.ts";
import { Clock } from "./clock.ts";
import { BreakableProxy } from "./proxy.ts";

const service = await sharedService();

const RATE_LIMITED = { code: "RATE_LIMITED", module: "Rooms", message: "Too many reads" };

/** Requests over a connection that a test answers. */
function connected() {
  const clock = new Clock();
  const requests = new PendingRequests(clock);
  const sent: { type: string; requestId: string; data: { number: number } }[] = [];
  const resume = () => requests.resume((frame) => sent.push(JSON.parse(frame)));
  const answer = (requestId: string, fault: typeof RATE_LIMITED | null = null) =>
    requests.settle({ requestId, data: {}, fault });
  const numbers = () => sent.map(({ data }) => data.number);
  const ask = (number: number, options: { signal?: AbortSignal; validMs?: number } = {}) =>
    requests.send("QUESTION", { number }, { read: () => number, ...options });
  return { clock, requests, sent, resume, answer, numbers, ask };
}

describe("requests", () => {
  it("wait for the first join, and are refused after disconnect()", async () => {
    const { requests, sent, resume, answer, numbers, ask } = connected();
    const asked = ask(1);
    expect(sent).toEqual([]);
    resume();
    expect(numbers()).toEqual([1]);
    answer(sent[0]?.requestId ?? "");
    expect(await asked).toBe(1);
    requests.stop({ code: "DISCONNECTED", module: "Client", message: "left" });
    await expect(ask(2)).rejects.toMatchObject({ code: "NOT_JOINED" });
  });

  it("have at most 24 unanswered reads, and a batch of writes does not wait for them (R69)", () => {
    const { requests, sent, resume, answer, numbers, ask } = connected();
    resume();
    for (let number = 0; number < 100; number += 1) void ask(number);
    expect(numbers()).toHaveLength(24);
    const frame = JSON.stringify({ type: "STORE_BATCH", requestId: "batch", data: { number: 1_000 } });
    requests.post({ requestId: "batch", frame, succeed: () => {}, fail: () => {} });
    expect(numbers().at(-1)).toBe(1_000);
    for (let index = 0; index < sent.length; index += 1) answer(sent[index]?.requestId ?? "");
    expect(numbers().filter((number) => number < 1_000)).toEqual([...Array(100).keys()]);
  });

  it("are sent again in their order after a pause that grows, while the answer is RATE_LIMITED", async () => {
    const { clock, sent, resume, answer, numbers, ask } = connected();
    resume();
    const asked = [ask(1), ask(2), ask(3)];
    const refuse = () => {
      for (const { requestId } of sent.splice(0)) answer(requestId, RATE_LIMITED);
    };
    for (const pauseMs of [750, 1_500, 3_000, 6_000, 7_500, 7_500]) {
      refuse();
      clock.advance(pauseMs - 1);
      expect(sent).toEqual([]);
      clock.advance(1);
      expect(numbers()).toEqual([1, 2, 3]);
    }
    for (const { requestId } of sent) answer(requestId);
    expect(await Promise.all(asked)).toEqual([1, 2, 3]);
    expect(clock.waiting).toBe(0);
  });

  it("can be given up while they wait, and once they are sent keep their place until they are answered", async () => {
    const { sent, resume, answer, numbers, ask, requests } = connected();
    const [early, late] = [new AbortController(), new AbortController()];
    const waiting = ask(1, { signal: early.signal });
    early.abort("too slow");
    await expect(waiting).rejects.toBe("too slow");
    resume();
    expect(sent).toEqual([]);
    const aborted = ask(2, { signal: late.signal });
    late.abort("not needed");
    await expect(aborted).rejects.toBe("not needed");
    for (let number = 3; number < 40; number += 1) void ask(number).catch(() => {});
    expect(numbers()).toHaveLength(24);
    answer(sent[0]?.requestId ?? "");
    expect(numbers()).toHaveLength(25);
    await expect(ask(40, { signal: AbortSignal.abort("before") })).rejects.toBe("before");
    // Nor are they sent again over the next connection.
    void ask(41, { signal: late.signal }).catch(() => {});
    requests.suspend();
    sent.length = 0;
    resume();
    expect(numbers()).not.toContain(41);
  });

  it("that are too old are not sent any more", async () => {
    const { clock, sent, resume, requests, ask } = connected();
    const waiting = ask(1, { validMs: 5_000 });
    clock.advance(5_000);
    await expect(waiting).rejects.toMatchObject({ code: "TIMEOUT", retryable: true });
    resume();
    expect(sent).toEqual([]);
    const unanswered = ask(2, { validMs: 5_000 });
    clock.advance(60_000);
    requests.suspend();
    await expect(unanswered).rejects.toMatchObject({ code: "DISCONNECTED" });
    resume();
    expect(sent).toHaveLength(1);
  });
});

describe("a client", () => {
  it("shows and keeps the writes and reads before its first join", async () => {
    const meeting = await meet(service);
    const user = await meeting.customer.createUser(meeting.roomId, "Ada");
    const ada = clientOf(user, { serverUrl: service.url });
    const notes = ada.store("notes");
    const early = [notes.set("1", "early"), ada.comments.create({ text: "Early" }), ada.comments.list()];
    expect([notes.get("1"), ada.hasUnsyncedChanges]).toEqual(["early", true]);
    await ada.join();
    const [written, , page] = await Promise.all(early);
    expect([written, page]).toEqual([
      expect.objectContaining({ version: 1 }),
      expect.objectContaining({ total: 1 }),
    ]);
  });

  it("opens a thousand threads and a hundred stores at once", async () => {
    const meeting = await meet(service);
    const ada = await join(meeting, "Ada");
    const { thread_id: threadId } = await ada.comments.create({ text: "Look" });
    const threads = Array.from({ length: 1_000 }, () => ada.comments.thread({ threadId }));
    const stores = Array.from({ length: 100 }, (_, index) => ada.store(`store ${index}`).sync());
    expect(new Set((await Promise.all(threads)).map(({ id }) => id))).toEqual(new Set([threadId]));
    await Promise.all(stores);
    expect(ada.socket.state).toBe("connected");
  });

  it("takes back a write that waits when its signal is aborted, and keeps the order of what follows", async () => {
    const proxy = await BreakableProxy.before(service);
    onTestFinished(() => proxy.close());
    const meeting = await meet(service);
    const ada = await join(meeting, "Ada", { serverUrl: proxy.url });
    const bo = await join(meeting, "Bo");
    const notes = ada.store("notes");
    await notes.set("1", "one");
    proxy.shut();
    await nextOf(ada, "reconnecting");
    const aborting = new AbortController();
    const { signal } = aborting;
    const kept = notes.set("2", "kept");
    const single = notes.set("1", "two", { signal });
    const comment = ada.comments.create({ text: "After the write" });
    const batch = notes.batch(
      [
        { action: "delete", key: "1" },
        { action: "set", key: "3", value: 3 },
      ],
      { signal },
    );
    expect(notes.getAll()).toEqual({ 2: "kept", 3: 3 });
    aborting.abort("changed my mind");
    await expect(single).rejects.toBe("changed my mind");
    await expect(batch).rejects.toBe("changed my mind");
    expect(notes.getAll()).toEqual({ 1: "one", 2: "kept" });
    const reports: string[] = [];
    bo.store("notes").on("changed", ({ key }) => reports.push(key));
    bo.comments.on("created", ({ text }) => reports.push(text));
    proxy.open();
    await Promise.all([kept, comment, ada.flush()]);
    await bo.store("notes").sync();
    expect([bo.store("notes").getAll(), reports.filter((each) => each !== "1")]).toEqual([
      { 1: "one", 2: "kept" },
      ["2", "After the write"],
    ]);
  });

  it("gives up waiting for a join whose signal is aborted, and goes on joining", async () => {
    const meeting = await meet(service);
    const ada = clientOf(await meeting.customer.createUser(meeting.roomId), { serverUrl: service.url });
    const connected = nextOf(ada, "connected");
    const aborting = new AbortController();
    const joining = ada.join({ signal: aborting.signal });
    aborting.abort("enough");
    await expect(joining).rejects.toBe("enough");
    await connected;
  });

  it("does not send the broadcasts of an outage hours later", async () => {
    const proxy = await BreakableProxy.before(service);
    onTestFinished(() => proxy.close());
    const meeting = await meet(service);
    const clock = new Clock();
    const user = await meeting.customer.createUser(meeting.roomId, "Ada");
    const ada = clientOf(user, { serverUrl: proxy.url }, clock);
    await ada.join();
    const bo = await join(meeting, "Bo");
    const heard: unknown[] = [];
    bo.notifications.on("wave", (data) => heard.push(data));
    proxy.shut();
    await nextOf(ada, "reconnecting");
    const wave = expect(ada.notifications.broadcast("wave", "old")).rejects.toMatchObject({
      code: "TIMEOUT",
    });
    clock.advance(5_000);
    await wave;
    const back = nextOf(ada, "reconnected");
    proxy.open();
    void ada.join();
    await back;
    await ada.notifications.broadcast("wave", "new");
    await bo.comments.list();
    expect(heard).toEqual(["new"]);
  });
});

describe("values", () => {
  it.each([
    [{ a: [1, Number.NaN] }, "value.a.1 must be JSON, and NaN is not"],
    [Number.POSITIVE_INFINITY, "value must be JSON, and Infinity is not"],
    [{ size: 1n }, "value.size must be JSON, and a bigint is not"],
    [{ run: () => {} }, "value.run must be JSON, and a function is not"],
    [Symbol("one"), "value must be JSON, and a symbol is not"],
    [undefined, "value must be JSON"],
    [{ tags: new Set(["a"]) }, "value.tags must be JSON, and a Set is not"],
    [[new Map()], "value.0 must be JSON, and a Map is not"],
    [Promise.resolve(1), "value must be JSON, and a Promise is not"],
    [{ toJSON: () => ({ size: Number.NaN }) }, "value.size must be JSON, and NaN is not"],
    [{ sum: { toJSON: () => 1n } }, "value.sum must be JSON, and a bigint is not"],
    [{ toJSON: "a text", size: Number.NaN }, "value.size must be JSON, and NaN is not"],
  ])("that JSON cannot express are refused by name: %o", (value, message) => {
    expect(() => toJson(value, "Stores")).toThrow(
      expect.objectContaining({ code: "VALIDATION_ERROR", message }),
    );
  });

  it("of JSON are not refused, with fields that are undefined and with dates, but cycles are", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5 }),
        (value) => toJson(value, "Stores") === JSON.stringify(value),
      ),
    );
    expect(toJson({ at: new Date(0), not: undefined }, "Stores")).toBe('{"at":"1970-01-01T00:00:00.000Z"}');
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const value of [cycle, { toJSON: () => cycle }])
      expect(() => toJson(value, "Stores")).toThrow("value must nest at most 40 levels deep");
  });

  it("cannot be changed in place, whether they are one's own or arrive", async () => {
    const meeting = await meet(service);
    const [ada, bo] = [await join(meeting, "Ada"), await join(meeting, "Bo")];
    const given = { nested: { count: 1 } };
    await ada.store("notes").set("1", given);
    given.nested.count = 2; // the application's own object stays its own
    await bo.store("notes").sync();
    bo.presence.sync("*", () => {});
    ada.presence.update({ at: { x: 1 } });
    await ada.comments.create({ text: "Look", metadata: { at: [1] } });
    const { comments } = await bo.comments.list();
    const values = [ada, bo].flatMap((client) => [
      client.store("notes").getAll(),
      client.currentRoom,
      ...comments,
      ...client.users.all.values(),
    ]);
    for (const value of values) expect(frozenThroughout(value)).toBe(true);
    expect(bo.store("notes").get("1")).toEqual({ nested: { count: 1 } });
  });

  it("are frozen throughout", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => frozenThroughout(frozen(value))));
  });
});

const frozenThroughout = (value: unknown): boolean =>
  typeof value !== "object" ||
  value === null ||
  (Object.isFrozen(value) && Object.values(value).every(frozenThroughout));
