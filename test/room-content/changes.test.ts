/** The changes of a room over Server-Sent Events: order, resuming, rights, and what a live read costs the room. */

import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { STREAM_LIMITS } from "../../packages/contract/stream-limits.ts";
import type { RoomObjectBase } from "../../src/room/host/room-object.ts";
import type { RoomRuntime } from "../../src/room/host/room-runtime.ts";
import { HEADERS } from "../../src/room/types/room-object.ts";
import { type Account, type Api, account, narrowedKey } from "../support/api.ts";

let owner: Account;
let api: Api;
let roomId: string;
let path: string;

beforeEach(async () => {
  owner = await account();
  ({ api } = owner);
  roomId = (await api.createRoom()).id;
  path = `/rooms/${roomId}/changes`;
});

/** A room that someone has joined learns of changes over REST. */
async function someoneJoins(): Promise<string> {
  const { id } = await api.createUser(roomId, { name: "Someone" });
  const joined = await api.json("PUT", `/rooms/${roomId}/participants/${id}`, {});
  expect(joined.status).toBe(200);
  return id;
}

interface Received {
  readonly id: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

const partsOf = (text: string): string[] => text.split("\n\n").slice(0, -1);
const isEvent = (part: string): boolean => part.includes("\ndata:");

function parse(part: string): Received {
  const fields = new Map(part.split("\n").map((line) => [line.split(":")[0], line.replace(/^\w+: ?/, "")]));
  const data = JSON.parse(fields.get("data") ?? "") as Record<string, unknown>;
  return { id: fields.get("id") ?? "", event: fields.get("event") ?? "", data };
}

const seqOf = ({ id }: Pick<Received, "id">): number => Number(id.split(":")[1]);

/** Reads events as they arrive. */
class Reader {
  readonly response: Response;
  text = "";
  readonly #reader;

  constructor(response: Response) {
    this.response = response;
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (reader === undefined) throw new Error("The response has no body");
    this.#reader = reader;
  }

  get events(): Received[] {
    return partsOf(this.text).filter(isEvent).map(parse);
  }

  /** Waits until the events fulfil a condition. Throws when they end before. */
  async until(isEnough: (reader: this) => boolean): Promise<Received[]> {
    while (!isEnough(this)) {
      const { value, done } = await this.#reader.read();
      if (done) throw new Error(`The events ended: ${this.text}`);
      this.text += value;
    }
    return this.events;
  }

  /** Waits for so many events. */
  first = (count: number): Promise<Received[]> => this.until(({ events }) => events.length >= count);

  begun = (): Promise<Received[]> => this.until(({ text }) => text.includes("\n\n"));

  async end(): Promise<Received[]> {
    for (let part = await this.#reader.read(); !part.done; part = await this.#reader.read())
      this.text += part.value;
    return this.events;
  }

  leave = (): Promise<void> => this.#reader.cancel();
}

const read = (query = "", as = api, headers: Record<string, string> = {}) =>
  as.raw("GET", path + query, { headers });
const open = async (query = "", as = api, lastEventId?: string) =>
  new Reader(await read(query, as, lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId }));

const write = (key: string, value: unknown, as = api) =>
  as.json("PUT", `/rooms/${roomId}/stores/tasks/${key}`, { value });

const runtimeOf = (room: RoomObjectBase) => (room as unknown as { runtime(): RoomRuntime }).runtime();
const inRoom = <Result>(work: (runtime: RoomRuntime, room: RoomObjectBase) => Result): Promise<Result> =>
  runInDurableObject<RoomObjectBase, Result>(env.ROOMS.getByName(roomId), (room) =>
    work(runtimeOf(room), room),
  );
const wake = () => inRoom(({ room }) => room.streams.live.wake("changes"));

/** Sets the room's clock forward. */
const ahead = (ms: number) =>
  inRoom((_, room) => {
    const { clock } = room;
    room.clock = () => clock() + ms;
  });

interface Page {
  readonly changes: readonly { seq: number; event: string; data: Record<string, unknown> }[];
  readonly reset: boolean;
  readonly next: { readonly seq: number; readonly epoch: string };
}
const pageOf = async (query: string, as = api) => (await read(`?live=false${query}`, as)).json<Page>();

describe("the changes of a room", () => {
  it("begin with a reset, and come in order and without gaps while others write (S8)", async () => {
    const reader = await open();
    expect(reader.response.headers.get("Content-Type")).toBe("text/event-stream");
    const [reset] = await reader.first(1);
    expect([reset?.event, reset?.id]).toEqual(["reset", `${String(reset?.data.epoch)}:0`]);
    await Promise.all(
      ["a", "b", "c"].map(async (writer) => {
        for (let each = 0; each < 10; each += 1) await write(`${writer}${each}`, each);
      }),
    );
    const [, ...changes] = await reader.first(31);
    expect(changes.map(seqOf)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    expect(changes.map(({ event }) => event)).toEqual(Array.from({ length: 30 }, () => "storeChanged"));
    expect(changes[0]?.data).toMatchObject({ store: "tasks" });
    await reader.leave();
  });

  it("are those that sockets receive, of users, comments and the room as well (S8)", async () => {
    const userId = await someoneJoins();
    await write("one", 1);
    const reader = await open("?seq=0");
    await api.createUser(roomId, { name: "Ada" });
    await api.json("POST", `/rooms/${roomId}/comments`, { userId, text: "Hello\nthere" });
    await api.patch(`/rooms/${roomId}`, { name: "Another" });
    const events = await reader.first(4);
    expect(events.map(({ event }) => event)).toEqual([
      "storeChanged",
      "userCreated",
      "commentCreated",
      "roomUpdated",
    ]);
    expect(events[2]?.data).toMatchObject({ comment: { text: "Hello\nthere" } });
    await reader.leave();
  });

  it("go on after a cut at any event, with the latest of each entry (S8)", async () => {
    const reader = await open();
    await reader.first(1);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ key: fc.constantFrom("a", "b", "c"), value: fc.nat(9) }), {
          minLength: 1,
          maxLength: 6,
        }),
        fc.nat(),
        async (writes, cut) => {
          const place = await inRoom(({ room }) => room.content.changes.end);
          for (const { key, value } of writes) await write(key, value);
          const all = await open("", api, `${place.epoch}:${place.seq}`);
          const latest = await inRoom(({ room }) => room.content.changes.lastSeq);
          if (latest === place.seq) return all.leave();
          const events = await all.until(({ events: each }) => each.some((event) => seqOf(event) === latest));
          await all.leave();
          const at = events[cut % events.length];
          const rest = events.slice((cut % events.length) + 1);
          const again = await open("", api, at?.id);
          await again.begun();
          if (rest.length > 0) await again.first(rest.length);
          expect(again.events).toEqual(rest);
          await again.leave();
          return undefined;
        },
      ),
      { numRuns: 15 },
    );
    await reader.leave();
  });

  it("begin with a reset at a place that is gone, of another epoch or of no room (S8)", async () => {
    await write("one", 1);
    const { next } = await pageOf("");
    for (const query of ["?seq=99", `?seq=0&epoch=${crypto.randomUUID()}`]) {
      const reader = await open(query);
      const [reset] = await reader.first(1);
      expect(reset).toEqual({ id: `${next.epoch}:1`, event: "reset", data: next });
      await reader.leave();
    }
    const other = await open("", api, `${crypto.randomUUID()}:1`);
    expect((await other.first(1))[0]?.event).toBe("reset");
    await other.leave();
    for (const [query, id] of [["?seq=x"], ["?seq=-1"], ["", "x"], ["", "epoch:"], ["?epoch=x"]] as const)
      expect((await read(query, api, id === undefined ? {} : { "Last-Event-ID": id })).status).toBe(400);
  });

  it("go on behind Last-Event-ID rather than behind seq (S8)", async () => {
    for (const key of ["a", "b", "c"]) await write(key, 1);
    const { next } = await pageOf("");
    const reader = await open("?seq=0", api, `${next.epoch}:2`);
    expect((await reader.first(1)).map(seqOf)).toEqual([3]);
    await reader.leave();
  });

  it("are answered as pages of JSON as well (S8)", async () => {
    const first = await pageOf("");
    expect(first).toMatchObject({ changes: [], reset: true, next: { seq: 0 } });
    await write("a", 1);
    await write("a", 2);
    await write("b", 3);
    const { changes, reset, next } = await pageOf(`&seq=0&epoch=${first.next.epoch}`);
    expect(changes.map(({ seq, event }) => [seq, event])).toEqual([
      [2, "storeChanged"],
      [3, "storeChanged"],
    ]);
    expect([reset, next.seq]).toEqual([false, 3]);
    expect(await pageOf(`&seq=3&epoch=${next.epoch}`)).toEqual({ changes: [], reset: false, next });
    const accepted = await read("?seq=2", api, { Accept: "application/json" });
    expect(accepted.headers.get("Content-Type")).toContain("application/json");
    const both = await read("?seq=2", api, { Accept: "application/json, text/event-stream" });
    expect(both.headers.get("Content-Type")).toBe("text/event-stream");
    await both.body?.cancel();
  });

  it("go on after hibernation and a kill of the room, and reads begin no epoch (S8)", async () => {
    await write("a", 1);
    const { next } = await pageOf("");
    const stub = env.ROOMS.getByName(roomId);
    await evictDurableObject(stub);
    expect(await pageOf(`&seq=1&epoch=${next.epoch}`)).toEqual({ changes: [], reset: false, next });
    const reader = await open("?seq=1");
    await reader.begun();
    await runInDurableObject(stub, (_, state) => state.abort("killed")).catch(() => undefined);
    await reader.end().catch(() => undefined);
    await write("b", 2);
    const again = await open("", api, `${next.epoch}:1`);
    const [change] = await again.first(1);
    expect([change?.event, seqOf(change ?? { id: "" })]).toEqual(["storeChanged", 2]);
    expect(change?.id.startsWith(next.epoch)).toBe(false);
    await again.leave();
  });

  it("show guests no mentioned identities (S8)", async () => {
    await write("a", 1);
    const comment = JSON.stringify({
      comment: { text: "Hi", mentioned: [{ kind: "identity", id: "secret" }] },
    });
    const shown = await inRoom(({ room }) => {
      const { changes, feed } = room.content;
      changes.transaction(() => changes.append("commentCreated", () => JSON.parse(comment) as object));
      changes.takeEvents();
      return [true, false].map((isGuest) => feed.page({ seq: 1 }, isGuest));
    });
    expect(shown.map((each) => each.includes("secret"))).toEqual([false, true]);
  });
});

describe("a live read of changes", () => {
  // From the start: requests keep the clock that they began with.
  beforeEach(() => void vi.setSystemTime(Date.now()));
  afterEach(() => void vi.useRealTimers());

  it("sends a comment while nothing changes, and ends after a minute (S8)", async () => {
    const reader = await open("?seq=0");
    await reader.begun();
    expect(reader.text).toBe(`retry: ${STREAM_LIMITS.changesRetryMs}\n\n`);
    await ahead(STREAM_LIMITS.heartbeatMs);
    await wake();
    await reader.until(({ text }) => text.includes("\n\n:\n\n"));
    await ahead(STREAM_LIMITS.eventsMs);
    await wake();
    expect(await reader.end()).toEqual([]);
  });

  it("needs the right to read, and none to write (S8)", async () => {
    const viewer = api.as((await api.createUser(roomId, { role: "viewer" })).token);
    const reader = await open("", viewer);
    await reader.first(1);
    await write("a", 1);
    expect((await reader.first(2))[1]?.event).toBe("storeChanged");
    await reader.leave();
    const key = await narrowedKey(owner, { permissions: ["*:read"] });
    expect((await read("?live=false", key.api)).status).toBe(200);
    const other = (await account()).api;
    expect((await other.raw("GET", api.base + path)).status).toBe(403);
    expect((await other.raw("GET", path)).status).toBe(404);
    expect((await api.as("nonsense").raw("GET", path)).status).toBe(401);
    expect((await read(`?token=${viewer.authorization}`, api.as(""))).status).toBe(401);
  });

  it("ends at once for a user who is deleted (S8)", async () => {
    await someoneJoins();
    const user = await api.createUser(roomId);
    const reader = await open("", api.as(user.token));
    await reader.first(1);
    await api.delete(`/users/${user.id}?roomId=${roomId}`);
    await write("secret", 1);
    expect(JSON.stringify(await reader.end())).not.toContain("secret");
    expect((await read("", api.as(user.token))).status).toBe(401);
  });

  it("sends nothing more for a credential that has ended meanwhile (S8)", async () => {
    const user = await api.createUser(roomId);
    const key = await narrowedKey(owner, { permissions: ["*:read"] });
    const readers = await Promise.all([api.as(user.token), key.api].map((as) => open("", as)));
    for (const reader of readers) await reader.first(1);
    await api.delete(`/users/${user.id}/tokens?roomId=${roomId}`);
    await api.delete(`/api-keys/${key.keyId}`);
    vi.setSystemTime(Date.now() + STREAM_LIMITS.callerCheckMs);
    await write("secret", 1);
    for (const reader of readers) expect(JSON.stringify(await reader.end())).not.toContain("secret");
  });

  it("ends when the room is closed, and when it is deleted (S8)", async () => {
    await someoneJoins();
    const user = api.as((await api.createUser(roomId)).token);
    const closing = [await open("", user), await open()];
    for (const reader of closing) await reader.first(1);
    await api.patch(`/rooms/${roomId}`, { state: "closed" });
    for (const reader of closing) await reader.end();
    expect((await read("", user)).status).toBe(403);
    expect((await read("?live=false", user)).status).toBe(403);
    const deleting = await open();
    await deleting.first(1);
    await api.delete(`/rooms/${roomId}`);
    await deleting.end();
    expect((await read()).status).toBe(404);
  });

  it("does not begin for a user whose right ended since the Worker asked, or in a closed room (S8)", async () => {
    const { id: userId } = await api.createUser(roomId);
    const begin = async (identityEpoch: number | null) => {
      const writer = { userId, identityEpoch, isGuest: false };
      const read = encodeURIComponent(JSON.stringify({ accountId: owner.id, from: null, writer }));
      const headers = { [HEADERS.changes]: read };
      const response = await env.ROOMS.getByName(roomId).fetch("https://room/changes", { headers });
      if (!response.ok) return (await response.json<{ code: string }>()).code;
      await response.body?.cancel();
      return "began";
    };
    expect(await begin(null)).toBe("began");
    expect(await begin(7)).toBe("UNAUTHORIZED");
    await api.patch(`/rooms/${roomId}`, { state: "closed" });
    expect(await begin(null)).toBe("FORBIDDEN");
    await api.delete(`/users/${userId}?roomId=${roomId}`);
    expect(await begin(null)).toBe("UNAUTHORIZED");
    expect(await inRoom(({ room }) => room.streams.live.has("changes"))).toBe(false);
  });

  it("asks once for the right of a user for all reads, after changes that may concern it (S6, S8)", async () => {
    await someoneJoins();
    const user = api.as((await api.createUser(roomId)).token);
    const readers = await Promise.all(Array.from({ length: 10 }, () => open("", user)));
    for (const reader of readers) await reader.first(1);
    const asked = await inRoom(({ service }) => {
      const findUser = vi.spyOn(service, "findUser");
      return { count: () => findUser.mock.calls.length, restore: () => findUser.mockRestore() };
    });
    const { id: other } = await api.createUser(roomId);
    for (const reader of readers) await reader.first(2);
    const afterOther = asked.count();
    await api.delete(`/users/${other}/tokens?roomId=${roomId}`);
    await write("a", 1);
    for (const reader of readers) await reader.first(3);
    expect(asked.count() - afterOther).toBeLessThanOrEqual(1); // for the other's tokens
    await api.patch(`/rooms/${roomId}`, { name: "Another" });
    for (const reader of readers) await reader.first(4);
    expect(asked.count() - afterOther).toBeLessThanOrEqual(3);
    asked.restore();
    for (const reader of readers) await reader.leave();
  });

  it("ends also in a room that no one has joined, with its next check (S8)", async () => {
    const reader = await open("", api.as((await api.createUser(roomId)).token));
    await reader.first(1);
    await api.patch(`/rooms/${roomId}`, { state: "closed" });
    vi.setSystemTime(Date.now() + STREAM_LIMITS.heartbeatMs);
    await wake();
    await reader.end();
  });

  it("counts among the live reads of its user, with those of streams (S6, S8)", async () => {
    const user = api.as((await api.createUser(roomId)).token);
    const stream = `/rooms/${roomId}/streams/answer`;
    await api.raw("PUT", stream, { headers: { "Content-Type": "text/plain" } });
    const others = await Promise.all(
      Array.from({ length: STREAM_LIMITS.waitingReads - 1 }, () =>
        user.raw("GET", `${stream}?offset=-1&live=sse`),
      ),
    );
    const reader = await open("", user);
    await reader.first(1);
    expect((await read("", user)).status).toBe(429);
    await reader.leave();
    const again = await open("", user);
    await again.first(1);
    await again.leave();
    for (const response of others) await response.body?.cancel();
  });

  it("holds nothing for a reader that is slow, and gives it the latest of each entry (S8)", async () => {
    const reader = await open();
    await reader.first(1);
    const value = "x".repeat(100_000);
    for (let each = 0; each < 30; each += 1) await write("large", `${each} ${value}`);
    await write("last", true);
    const events = await reader.until(({ events: all }) => all.at(-1)?.data.key === "last");
    expect(events.length).toBeLessThan(30);
    expect(JSON.stringify(events.at(-2)?.data)).toContain("29 xxx");
    await reader.leave();
  });
});

describe("many live reads of changes", () => {
  it("share a part beside guests and readers without news, and it is dropped with the last reader (S8)", async () => {
    await write("a", 1);
    const reader = await open();
    await reader.first(1);
    const parts = await inRoom(({ room }) => {
      const { feed, changes } = room.content;
      const events = (isGuest: boolean, seq = 0) => feed.events({ seq }, isGuest);
      const parts = [
        events(false),
        events(true),
        events(false, changes.lastSeq),
        events(false),
        events(true),
      ];
      return parts.map(({ bytes }) => parts.findIndex((each) => each.bytes === bytes));
    });
    expect(parts).toEqual([0, 1, 2, 0, 1]);
    await reader.leave();
    const made = await inRoom(({ room }) => {
      const after = vi.spyOn(room.content.changes, "after");
      room.content.feed.events({ seq: 0 }, false);
      return after.mock.calls.length;
    });
    expect(made).toBe(1);
  });

  it("share what two hundred readers receive beside a writer (S8)", async () => {
    const readers = await Promise.all(Array.from({ length: 200 }, () => open()));
    await Promise.all(readers.map((reader) => reader.first(1)));
    const writes = 40;
    const made = await inRoom(({ room }) => {
      const after = vi.spyOn(room.content.changes, "after");
      return () => after.mock.calls.length;
    });
    const receiving = Promise.all(readers.map((reader) => reader.first(writes + 1)));
    for (let each = 0; each < writes; each += 1) await write(`key${each}`, each);
    const received = await receiving;
    for (const events of received)
      expect(events.slice(1).map(seqOf)).toEqual(Array.from({ length: writes }, (_, index) => index + 1));
    expect(made()).toBeLessThanOrEqual(2 * writes);
    await Promise.all(readers.map((reader) => reader.leave()));
    expect(await inRoom(({ room }) => room.streams.live.has("changes"))).toBe(false);
  });
});
