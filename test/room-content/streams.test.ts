/** Streams over REST: the protocol's headers, rights, live reads, and what else the room does with them. */

import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { STREAM_LIMITS } from "../../packages/contract/stream-limits.ts";
import { messagesOf } from "../../src/features/room-content/streams/json-messages.ts";
import type { RoomObjectBase } from "../../src/room/host/room-object.ts";
import { type Account, type Api, account, narrowedKey, refusalOf } from "../support/api.ts";
import { setLimit, usesOf } from "../support/quotas.ts";

let owner: Account;
let api: Api;
let roomId: string;
let path: string;

beforeEach(async () => {
  owner = await account();
  ({ api } = owner);
  roomId = (await api.createRoom()).id;
  path = `/rooms/${roomId}/streams/answer`;
});

const TEXT = { "Content-Type": "text/plain" };

const create = (headers: object = {}, as = api, at = path, body: string | null = null) =>
  as.raw("PUT", at, { headers: { ...TEXT, ...headers }, body });
const append = (body: string, headers: object = {}, as = api, at = path) =>
  as.raw("POST", at, { headers: { ...TEXT, ...headers }, body });
const read = (query = "", as = api, at = path) => as.raw("GET", at + query);
const nextOf = (response: Response) => response.headers.get("Stream-Next-Offset") ?? "";
const text = async (query = "", as = api, at = path) => (await read(query, as, at)).text();

/** Reads events as they arrive. */
function eventsOf(response: Response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) throw new Error("The response has no body");
  let received = "";
  return {
    /** Waits until the events contain a text. Throws when they end before. */
    async until(expected: string) {
      while (!received.includes(expected)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`The events ended: ${received}`);
        received += value;
      }
      return received;
    },
    async end() {
      for (let part = await reader.read(); !part.done; part = await reader.read()) received += part.value;
      return received;
    },
    leave: () => reader.cancel(),
  };
}

const roomObject = (work: (room: RoomObjectBase) => unknown) =>
  runInDurableObject<RoomObjectBase, unknown>(env.ROOMS.getByName(roomId), (room) => work(room));

/** Sets the room's clock forward. */
const ahead = (ms: number) => (room: RoomObjectBase) => {
  const { clock } = room;
  room.clock = () => clock() + ms;
};

describe("a stream", () => {
  it("is created, appended to, read from any offset, closed and deleted (S1)", async () => {
    const created = await create();
    expect([created.status, created.headers.get("Location")]).toEqual([
      201,
      `https://atrium.test${api.base}${path}`,
    ]);
    expect((await create()).status).toBe(200);
    expect((await create({ "Content-Type": "text/html" })).status).toBe(409);
    const first = await append("Hello ");
    expect(first.status).toBe(204);
    await append("World");
    const all = await read();
    expect(await all.text()).toBe("Hello World");
    expect(all.headers.get("Stream-Up-To-Date")).toBe("true");
    expect(await text(`?offset=${nextOf(first)}`)).toBe("World");
    const closed = await append("", { "Stream-Closed": "true" });
    expect([closed.status, closed.headers.get("Stream-Closed")]).toEqual([204, "true"]);
    expect((await append("late")).status).toBe(409);
    expect((await api.raw("DELETE", path)).status).toBe(204);
    expect((await read()).status).toBe(404);
  });

  it("is listed by name, page by page", async () => {
    for (const name of ["c", "a", "b"]) await create({}, api, `/rooms/${roomId}/streams/${name}`);
    const list = (query: string) =>
      api.get<{ streams: { name: string }[]; cursor: string | null }>(`/rooms/${roomId}/streams${query}`);
    const { data } = await list("?limit=2");
    expect(data.streams.map(({ name }) => name)).toEqual(["a", "b"]);
    const rest = await list(`?limit=2&after=${data.cursor}`);
    expect(rest.data).toMatchObject({
      streams: [{ name: "c", content_type: "text/plain", closed: false }],
      cursor: null,
    });
  });

  it("keeps messages of JSON as they were sent (S2)", () => {
    void fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.nat(3), (values, indent) => {
        const stored = new TextDecoder().decode(
          messagesOf(new TextEncoder().encode(JSON.stringify(values, null, indent))),
        );
        const messages = stored.split("\x1e").slice(0, -1);
        expect(messages.map((message) => JSON.parse(message) as unknown)).toEqual(
          JSON.parse(JSON.stringify(values)),
        );
      }),
    );
    const exact = new TextDecoder().decode(
      messagesOf(new TextEncoder().encode('[1e400, 12345678901234567890, {"a":[1,"],"]}]')),
    );
    expect(exact).toBe('1e400\x1e12345678901234567890\x1e{"a":[1,"],"]}\x1e');
  });

  it("refuses what the protocol does, and says so in its headers", async () => {
    await create();
    const cases: [Promise<Response>, number][] = [
      [append(""), 400],
      [append("x", { "Idempotency-Key": "once" }), 400],
      [create({}, api, `/rooms/${roomId}/streams/__ds`), 400],
      [create({ "Content-Type": "text" }), 400],
      [create({ "Stream-Expires-At": "2030-02-30T00:00:00Z" }), 400],
      [append("1", { "Content-Type": "application/json" }), 409],
      [append("x", { "Producer-Id": "p" }), 400],
      [append("x".repeat(STREAM_LIMITS.appendBytes + 1)), 413],
      [append("x", { "Producer-Id": "p", "Producer-Epoch": "0", "Producer-Seq": "01" }), 400],
      [create({ "Stream-TTL": "1e3" }), 400],
      [create({ "Stream-TTL": "1", "Stream-Expires-At": "2035-01-31T09:30:00Z" }), 400],
      [create({ "Stream-Forked-From": "/v1/elsewhere" }), 404],
      [
        api.raw("PUT", `${path}-fork`, {
          headers: { "Stream-Forked-From": api.base + path },
          body: new Uint8Array([1]),
        }),
        400,
      ],
      [create({ "Content-Type": `text/${"x".repeat(300)}` }), 400],
      [create({}, api, `/rooms/${roomId}/streams/${"n".repeat(256)}`), 400],
      [read("?offset=x"), 400],
      [read("?offset=-1&live=push"), 400],
      [read("?live=sse"), 400],
      [read("", api, `/rooms/${roomId}/streams/other`), 404],
      [read("?offset=-1&live=sse", api, `/rooms/${roomId}/streams/other`), 404],
    ];
    for (const [response, status] of cases) expect((await response).status).toBe(status);
    const order = (value: string) => append("x", { "Stream-Seq": value });
    expect((await order("b")).status).toBe(204);
    expect((await order("a")).status).toBe(409);
  });

  it("of JSON takes nothing but messages (S2)", async () => {
    const json = { "Content-Type": "application/json" };
    await create(json);
    for (const body of ["\u000b1", "\u00a01", "[1,]", "", "{"])
      expect((await append(body, json)).status).toBe(400);
    expect((await append("[]", { ...json, "Stream-Closed": "true" })).status).toBe(400);
    await append(" [ 1 , [2] ]\n", json);
    expect(await text()).toBe("[1,[2]]");
  });

  it("answers 304 for what the client has, and only past ranges may be stored (S7)", async () => {
    await create();
    const { headers } = await append("x".repeat(STREAM_LIMITS.appendBytes));
    const first = await read();
    const etag = first.headers.get("ETag") ?? "";
    const again = await api.raw("GET", path, { headers: { "If-None-Match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect((await api.raw("GET", path, { headers: { "If-None-Match": `W/${etag}` } })).status).toBe(304);
    await append("and more");
    const zero = `${headers.get("Stream-Next-Offset")?.slice(0, 17)}${"0".repeat(16)}`;
    const past = await read(`?offset=${zero}`);
    expect(past.headers.get("Cache-Control")).toContain("max-age=60");
    const tail = await read(`?offset=${nextOf(past)}`);
    expect([tail.headers.get("Cache-Control"), await tail.text()]).toEqual(["private, no-cache", "and more"]);
    expect(tail.headers.get("Vary")).toBe("Authorization");
  });
});

describe("a live read", () => {
  // From the start: requests keep the clock that they began with.
  beforeEach(() => void vi.setSystemTime(Date.now()));
  afterEach(() => void vi.useRealTimers());

  it("receives what comes, as events until the stream is closed (S7)", async () => {
    await create();
    await append("Hello");
    const events = eventsOf(await read("?offset=-1&live=sse"));
    await events.until('"upToDate":true');
    await append(" World");
    expect(await events.until("World")).toContain("data:  World\n");
    await append("!", { "Stream-Closed": "true" });
    const received = await events.end();
    expect(received).toContain("data:!\n");
    expect(received).toContain('"streamClosed":true');
  });

  it("waits for one answer as a long poll (S7)", async () => {
    await create();
    const waiting = read("?offset=now&live=long-poll");
    await roomObject((room) => untilWaiting(room));
    await append("news");
    const response = await waiting;
    expect([response.status, await response.text()]).toEqual([200, "news"]);
    expect(response.headers.get("Stream-Cursor")).toMatch(/^\d+$/);
  });

  it("sends a reader far behind a part at a time (S7)", async () => {
    await create();
    for (const letter of ["a", "b"]) await append(letter.repeat(STREAM_LIMITS.appendBytes));
    const received = await eventsOf(await read("?offset=-1&live=sse")).end();
    expect(received).not.toContain("upToDate");
    expect(received.length).toBeLessThan(1.1 * STREAM_LIMITS.appendBytes);
  });

  it("ends when the stream is deleted, or the room (S7)", async () => {
    await create();
    const events = eventsOf(await read("?offset=-1&live=sse"));
    await events.until("control");
    await api.raw("DELETE", path);
    await events.end();
    await create();
    const others = eventsOf(await read("?offset=-1&live=sse"));
    await others.until("control");
    await api.delete(`/rooms/${roomId}`);
    await others.end();
    expect((await read()).status).toBe(404);
  });

  it("sends nothing more to a user who may not read any more (S6)", async () => {
    await create();
    const user = await api.createUser(roomId);
    const events = eventsOf(await read("?offset=-1&live=sse", api.as(user.token)));
    await events.until("control");
    await api.delete(`/users/${user.id}?roomId=${roomId}`);
    vi.setSystemTime(Date.now() + 10_000);
    await append("secret");
    expect(await events.end()).not.toContain("secret");
  });

  it("asks for the right and the time also while a writer leaves it no rest (S6, S7)", async () => {
    await create();
    const user = await api.createUser(roomId);
    const events = eventsOf(await read("?offset=-1&live=sse", api.as(user.token)));
    for (let second = 0; second < 4; second += 1) {
      await append(`${second} `);
      await events.until(`${second} `);
      vi.setSystemTime(Date.now() + 5_000);
    }
    await api.delete(`/users/${user.id}?roomId=${roomId}`);
    vi.setSystemTime(Date.now() + 10_000);
    await append("secret");
    expect(await events.end()).not.toContain("secret");
    const other = eventsOf(await read("?offset=-1&live=sse"));
    await other.until("control");
    await roomObject(ahead(STREAM_LIMITS.eventsMs));
    await append("late");
    expect(await other.end()).not.toContain("late");
  });

  it("sends nothing more for a credential that has ended meanwhile (S6)", async () => {
    await create();
    const user = await api.createUser(roomId);
    const key = await narrowedKey(owner, { permissions: ["*:read"] });
    const events = await Promise.all(
      [api.as(user.token), key.api].map(async (as) => eventsOf(await read("?offset=-1&live=sse", as))),
    );
    const polls = [api.as(user.token), key.api].map((as) => read("?offset=now&live=long-poll", as));
    for (const each of events) await each.until("control");
    await roomObject((room) => untilWaiting(room));
    await api.delete(`/users/${user.id}/tokens?roomId=${roomId}`);
    await api.delete(`/api-keys/${key.keyId}`);
    vi.setSystemTime(Date.now() + 10_000);
    await append("secret");
    for (const each of events) expect(await each.end()).not.toContain("secret");
    for (const poll of polls) expect((await poll).status).toBe(401);
  });

  it("ends when another stream gets the name (S7)", async () => {
    await create();
    const events = eventsOf(await read("?offset=-1&live=sse"));
    await events.until("control");
    await roomObject(() => undefined);
    await api.raw("DELETE", path);
    await create({ "Content-Type": "application/octet-stream" });
    await append("bytes", { "Content-Type": "application/octet-stream" });
    expect(await events.end()).not.toContain("event: data");
  });

  it("sends the end of a stream that is closed as the minute ends (S7)", async () => {
    await create();
    const events = eventsOf(await read("?offset=-1&live=sse"));
    await events.until("control");
    await roomObject(ahead(STREAM_LIMITS.eventsMs));
    await append("the end", { "Stream-Closed": "true" });
    const text = await events.end();
    expect(text).toContain("the end");
    expect(text).toContain('"streamClosed":true');
  });

  it("waits for a user a number of times, and no more (S6)", async () => {
    await create();
    const user = api.as((await api.createUser(roomId)).token);
    const open = () => read("?offset=-1&live=sse", user);
    const all = await Promise.all(Array.from({ length: STREAM_LIMITS.waitingReads }, open));
    expect((await open()).status).toBe(429);
    for (const response of all) await response.body?.cancel();
    expect((await (await open()).body?.cancel()) === undefined).toBe(true);
  });
});

async function untilWaiting(room: RoomObjectBase): Promise<void> {
  const { streams } = (
    room as unknown as {
      runtime(): {
        room: {
          streams: { live: { has(id: number): boolean }; read(name: string, from: string): { id: number } };
        };
      };
    }
  ).runtime().room;
  const { id } = streams.read("answer", "-1");
  while (!streams.live.has(id)) await scheduler.wait(1);
}

describe("rights", () => {
  it("to write are the permission streams:write, and everyone in the room reads (S6)", async () => {
    const viewer = api.as((await api.createUser(roomId, { role: "viewer" })).token);
    const editor = api.as((await api.createUser(roomId)).token);
    expect((await create({}, viewer)).status).toBe(403);
    expect((await create({}, editor)).status).toBe(201);
    expect((await append("x", {}, viewer)).status).toBe(403);
    expect(await text("", viewer)).toBe("");
    expect((await viewer.raw("DELETE", path)).status).toBe(403);
    const key = await narrowedKey(owner, { permissions: ["*:read", "streams:write"] });
    expect((await append("by the key", {}, key.api)).status).toBe(204);
  });

  it("end with the room, and with its closing for users (S6)", async () => {
    const editor = api.as((await api.createUser(roomId)).token);
    await create({}, editor);
    await api.patch(`/rooms/${roomId}`, { state: "closed" });
    expect(refusalOf({ status: (await append("x", {}, editor)).status, error: null })[0]).toBe(403);
    expect((await append("x")).status).toBe(204);
    const other = (await account()).api;
    expect((await read("", other, api.base + path)).status).not.toBe(200);
  });
});

describe("what a room keeps of streams", () => {
  it("counts in the quota store_bytes and in the room's limit streamBytes (S6)", async () => {
    await create();
    await append("x".repeat(STREAM_LIMITS.appendBytes));
    await roomObject(() => undefined);
    await runDurableObjectAlarm(env.ROOMS.getByName(roomId));
    expect((await usesOf(owner)).store_bytes).toBeGreaterThan(STREAM_LIMITS.appendBytes);
    await setLimit(owner, "store_bytes", 2 * STREAM_LIMITS.appendBytes);
    await append("x".repeat(STREAM_LIMITS.appendBytes / 2));
    await api.patch(`/rooms/${roomId}`, { limits: { streamBytes: 2 * STREAM_LIMITS.appendBytes } });
    const refused = await append("x".repeat(STREAM_LIMITS.appendBytes));
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining("streamBytes")]);
    await setLimit(owner, "store_bytes", null);
  });

  it("is removed and counted by a room that no one has joined, when it starts for its alarm (S5, S6)", async () => {
    await create({ "Stream-TTL": "1" });
    await append("x".repeat(STREAM_LIMITS.appendBytes));
    const stub = env.ROOMS.getByName(roomId);
    await runDurableObjectAlarm(stub);
    expect((await usesOf(owner)).store_bytes).toBeGreaterThan(STREAM_LIMITS.appendBytes);
    await evictDurableObject(stub);
    await roomObject(ahead(10_000));
    for (let alarm = 0; alarm < 3; alarm += 1) await runDurableObjectAlarm(stub);
    expect((await usesOf(owner)).store_bytes).toBe(0);
  });

  it("is in a user's export (S6)", async () => {
    const user = await api.createUser(roomId);
    await create({}, api.as(user.token), path, "abc");
    await append("defg", {}, api.as(user.token));
    await append("by the organization");
    const { data } = await api.get<{ records: { type: string }[] }>(
      `/users/${user.id}/personal-data?roomId=${roomId}&limit=100`,
    );
    expect(data.records).toContainEqual({
      ...{ type: "stream", stream: "answer", appends: 2, bytes: 7 },
      ...{ first_at: expect.any(String), last_at: expect.any(String) },
    });
  });
});
