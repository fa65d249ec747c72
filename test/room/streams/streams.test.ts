/** The streams of a room beside a model of them, over its real storage. */

import { STREAM_CHARGES, STREAM_LIMITS } from "@atrium/contract/stream-limits.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SqliteStorage } from "../../../src/room/storage/storage.ts";
import { controlEventOf, dataEventOf } from "../../../src/room/streams/stream-events.ts";
import { RoomStreams } from "../../../src/room/streams/streams.ts";
import type { StreamAppend, StreamCreation, StreamPart } from "../../../src/room/types/streams.ts";
import { test, withStorage } from "../support/with-storage.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const CREATION: StreamCreation = {
  ...{ contentType: "text/plain", ttlSeconds: null, expiresAt: null, closes: false, fork: null },
  ...{ data: new Uint8Array(), userId: null },
};
const APPEND: StreamAppend = {
  ...{ contentType: "text/plain", data: new Uint8Array(), closes: false, producer: null, order: null },
  userId: null,
};

class Clock {
  now = 1_800_000_000_000;
}

function open(storage: SqliteStorage, clock = new Clock()) {
  const quota = {
    used: 0,
    require: () => {},
    changed: (before: number, after: number) => {
      quota.used += after - before;
    },
  };
  const streams = new RoomStreams({
    storage,
    now: () => clock.now,
    planAlarm: () => {},
    changesLeft: () => {},
    quota,
  });
  return {
    streams,
    clock,
    quota,
    create: (name: string, creation: Partial<StreamCreation> = {}) =>
      streams.create(name, { ...CREATION, ...creation }),
    append: (name: string, text: string, append: Partial<StreamAppend> = {}) =>
      streams.append(name, { ...APPEND, data: encoder.encode(text), ...append }),
    sweepAll: () => {
      for (let due = streams.dueAt(); due !== null && due <= clock.now; due = streams.dueAt())
        streams.sweep();
    },
  };
}

/** Everything from an offset on, part by part. */
function readAll(streams: RoomStreams, name: string, from = "-1"): string {
  let text = "";
  for (let part: StreamPart | null = streams.read(name, from); part !== null; ) {
    text += decoder.decode(part.data);
    part = part.isUpToDate ? null : streams.read(name, part.next);
  }
  return text;
}

const refusal = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return { code: (error as { code: string }).code, ...(error as { headers: object }).headers };
  }
  return null;
};

interface Modelled {
  text: string;
  readonly offsets: { readonly offset: string; readonly length: number }[];
  isClosed: boolean;
}

const Step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("append" as const),
      pick: fc.nat(),
      text: fc.string({ minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("fork" as const),
      pick: fc.nat(),
      at: fc.nat(),
      beyond: fc.nat(3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("create" as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("delete" as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("close" as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("restart" as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("sweep" as const) }) },
);

it("reads what was appended, through forks, deletions and restarts, and counts all of it (S1, S4)", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(Step, { maxLength: 40 }), (steps) =>
      withStorage(({ storage, reopen }) => {
        let current = storage;
        let room = open(current);
        let names = 0;
        const model = new Map<string, Modelled>();
        const picked = (pick: number) => [...model.entries()][pick % Math.max(1, model.size)];
        for (const step of steps) {
          const [name, stream] = ("pick" in step ? picked(step.pick) : undefined) ?? [];
          if (step.type === "create") {
            const { state } = room.create(`s${names}`);
            model.set(`s${names}`, {
              text: "",
              offsets: [{ offset: state.next, length: 0 }],
              isClosed: false,
            });
            names += 1;
          } else if (step.type === "sweep") room.sweepAll();
          else if (step.type === "restart") {
            current = reopen();
            room = open(current, room.clock);
          } else if (name === undefined || stream === undefined) continue;
          else if (step.type === "append" && !stream.isClosed) {
            const { state } = room.append(name, step.text);
            stream.text += decoder.decode(encoder.encode(step.text));
            stream.offsets.push({ offset: state.next, length: stream.text.length });
          } else if (step.type === "close") {
            room.append(name, "", { closes: true });
            stream.isClosed = true;
          } else if (step.type === "delete") {
            room.streams.delete(name);
            model.delete(name);
          } else if (step.type === "fork") {
            const place = stream.offsets[step.at % stream.offsets.length] ?? { offset: "-1", length: 0 };
            const { offset } = place;
            const fork = { name, offset, beyond: 0 };
            const { state } = room.create(`s${names}`, { fork });
            expect(state.next).toBe(offset);
            const offsets = stream.offsets.filter(({ length }) => length <= place.length);
            model.set(`s${names}`, {
              text: stream.text.slice(0, place.length),
              offsets: [...offsets],
              isClosed: false,
            });
            names += 1;
          }
          for (const [each, { text, offsets, isClosed }] of model) {
            expect(readAll(room.streams, each)).toBe(text);
            for (const { offset, length } of offsets)
              expect(readAll(room.streams, each, offset)).toBe(text.slice(length));
            expect(room.streams.describe(each).isClosed).toBe(isClosed);
          }
          expect(room.streams.bytes).toBe(current.streams.measure());
        }
        for (const name of model.keys()) room.streams.delete(name);
        room.sweepAll();
        expect(room.streams.bytes).toBe(0);
        expect(current.streams.measure()).toBe(0);
      }),
    ),
    { numRuns: 40 },
  );
});

describe("a producer", () => {
  const turn = (seq: number, epoch = 0) => ({ producer: { id: "p", epoch, seq } });

  test("stores each of its appends once, in order (S3)", ({ storage, reopen }) => {
    const room = open(storage);
    room.create("a");
    expect(refusal(() => room.append("a", "x", turn(1)))).toMatchObject({
      ...{ code: "CONFLICT", "Producer-Expected-Seq": "0", "Producer-Received-Seq": "1" },
    });
    expect(room.append("a", "one ", turn(0)).isNew).toBe(true);
    expect(room.append("a", "one ", turn(0))).toMatchObject({ isNew: false, producer: { seq: 0 } });
    const after = open(reopen(), room.clock);
    after.append("a", "two ", turn(1));
    expect(after.append("a", "one ", turn(0))).toMatchObject({ isNew: false, producer: { seq: 1 } });
    after.append("a", "three", turn(0, 1));
    expect(refusal(() => after.append("a", "late", turn(2)))).toEqual({
      code: "FORBIDDEN",
      "Producer-Epoch": "1",
    });
    expect(refusal(() => after.append("a", "late", turn(3, 2)))).toEqual({ code: "BAD_REQUEST" });
    expect(readAll(after.streams, "a")).toBe("one two three");
  });

  test("closes a stream once, and learns that it has when it asks again (S3)", ({ storage }) => {
    const room = open(storage);
    room.create("a");
    const last = { ...turn(0), closes: true };
    expect(room.append("a", "all", last)).toMatchObject({ isNew: true, state: { isClosed: true } });
    expect(room.append("a", "all", last)).toMatchObject({ isNew: false, state: { isClosed: true } });
    const { next } = room.streams.describe("a");
    const closed = { code: "CONFLICT", "Stream-Closed": "true", "Stream-Next-Offset": next };
    expect(refusal(() => room.append("a", "more", turn(1)))).toEqual(closed);
    expect(refusal(() => room.append("a", "more"))).toEqual(closed);
    expect(readAll(room.streams, "a")).toBe("all");
  });

  test("writes two rows for an append, and anyone else one", ({ storage }) => {
    const room = open(storage);
    room.create("a", { ttlSeconds: 3600 });
    room.append("a", "first", turn(0));
    const before = storage.writes;
    room.append("a", "one more", turn(1));
    expect(storage.writes - before).toBe(2);
    room.append("a", "without");
    expect(storage.writes - before).toBe(3);
  });
});

describe("a stream's time", () => {
  test("is over also after a write of its name that was refused (S5)", ({ storage }) => {
    const room = open(storage);
    room.create("a", { ttlSeconds: 1_000 });
    room.clock.now += 1_000_001;
    const fork = { name: "none", offset: null, beyond: 0 };
    expect(refusal(() => room.create("a", { fork }))?.code).toBe("NOT_FOUND");
    expect(refusal(() => room.streams.read("a", "-1"))?.code).toBe("NOT_FOUND");
  });

  test("goes on for as long as itself after a restart under a reader (S5)", ({ storage, reopen }) => {
    const room = open(storage);
    room.create("a", { ttlSeconds: 30 });
    room.streams.live.open(room.streams.read("a", "-1").id);
    for (let second = 0; second < 45; second += 1) {
      room.clock.now += 1_000;
      room.sweepAll();
    }
    const restarted = open(reopen(), room.clock);
    room.clock.now += 4_000;
    expect(restarted.streams.describe("a").ttlSeconds).toBe(30);
  });

  test("begins anew with each read and append, and stays while someone waits (S5)", ({ storage, reopen }) => {
    const room = open(storage);
    const { clock, streams } = room;
    room.create("a", { ttlSeconds: 10 });
    for (const use of [() => streams.read("a", "-1"), () => room.append("a", "x")]) {
      clock.now += 9_000;
      use();
    }
    clock.now += 9_000;
    streams.describe("a");
    const live = streams.live.open(streams.read("a", "-1").id);
    clock.now += 60_000;
    room.sweepAll();
    expect(streams.describe("a").ttlSeconds).toBe(10);
    live.end();
    clock.now += 9_999;
    expect(streams.describe("a").isClosed).toBe(false);
    const restarted = open(reopen(), clock);
    clock.now += 1;
    expect(refusal(() => streams.describe("a"))).toEqual({ code: "NOT_FOUND" });
    expect(restarted.streams.describe("a").isClosed).toBe(false);
    clock.now += 1_000;
    room.sweepAll();
    expect(storage.streams.find("a")).toBeNull();
  });

  test("is a time for all when it is fixed, and a fork has that of its source (S5)", ({ storage }) => {
    const room = open(storage);
    const expiresAt = room.clock.now + 5_000;
    room.create("a", { expiresAt, data: encoder.encode("kept") });
    room.create("b", { fork: { name: "a", offset: null, beyond: 0 } });
    room.create("c", { fork: { name: "a", offset: null, beyond: 0 }, ttlSeconds: 60 });
    room.streams.read("a", "-1");
    room.clock.now += 5_000;
    for (const name of ["a", "b"])
      expect(refusal(() => room.streams.describe(name))).toEqual({ code: "NOT_FOUND" });
    room.sweepAll();
    expect(readAll(room.streams, "c")).toBe("kept");
    expect(refusal(() => room.create("a"))).toEqual({ code: "CONFLICT" });
    room.streams.delete("c");
    room.sweepAll();
    expect(room.create("a").isNew).toBe(true);
  });

  test("ends many streams in steps", ({ storage }) => {
    const room = open(storage);
    for (let each = 0; each < 250; each += 1) room.create(`s${each}`, { ttlSeconds: 1 });
    room.clock.now += 2_000;
    room.streams.sweep();
    expect(storage.streams.list("", 1_000)).toHaveLength(150);
    room.sweepAll();
    expect(room.streams.bytes).toBe(0);
  });
});

describe("an offset", () => {
  test("of an earlier stream of the name is gone, also after a restore (S2)", ({ storage }) => {
    const room = open(storage);
    room.create("a");
    const { state } = room.append("a", "old");
    room.streams.delete("a");
    room.clock.now += 1;
    room.create("a");
    room.append("a", "newer");
    expect(refusal(() => room.streams.read("a", state.next))).toEqual({ code: "GONE" });
    const { next } = room.streams.describe("a");
    storage.streams.settleRestored(room.clock.now);
    expect(refusal(() => room.streams.read("a", next))).toEqual({ code: "GONE" });
    expect(readAll(room.streams, "a")).toBe("newer");
  });

  test("of a fork is that of its source up to where it begins, and its own from there (S2, S4)", ({
    storage,
  }) => {
    const room = open(storage);
    const source = room.create("a", { data: encoder.encode("source") }).state.next;
    const fork = { fork: { name: "a", offset: null, beyond: 0 } };
    expect(room.create("f", fork).state.next).toBe(source);
    const { state } = room.append("f", " and fork");
    expect(state.next > source).toBe(true);
    room.streams.delete("f");
    room.create("f", fork);
    room.append("f", " of another time");
    expect(readAll(room.streams, "f", source)).toBe(" of another time");
    expect(refusal(() => room.streams.read("f", state.next))).toEqual({ code: "GONE" });
    room.create("b", { data: encoder.encode("source") });
    expect(refusal(() => room.create("f", { fork: { ...fork.fork, name: "b" } }))).toEqual({
      code: "CONFLICT",
    });
    expect(refusal(() => room.create("f", { fork: { ...fork.fork, name: "f" } }))).toEqual({
      code: "CONFLICT",
    });
    expect(room.create("f", { fork: { ...fork.fork, offset: source } }).isNew).toBe(false);
  });

  test("lies between two messages of JSON, and not beyond the end (S2)", ({ storage }) => {
    const room = open(storage);
    const json = { contentType: "application/json" };
    room.create("a", json);
    const { state } = room.append("a", '{"a":1}\x1e{"b":2}\x1e', json);
    const at = (position: number) => `${state.next.slice(0, 17)}${String(position).padStart(16, "0")}`;
    expect(decoder.decode(room.streams.read("a", at(8)).data)).toBe('{"b":2}\x1e');
    for (const position of [3, 17])
      expect(refusal(() => room.streams.read("a", at(position)))?.code).toBe("BAD_REQUEST");
    const fork = (beyond: number) => ({ contentType: null, fork: { name: "a", offset: at(0), beyond } });
    room.create("b", fork(1));
    expect(readAll(room.streams, "b")).toBe('{"a":1}\x1e');
    expect(refusal(() => room.create("c", fork(3)))?.code).toBe("BAD_REQUEST");
  });
});

describe("bounds", () => {
  test("a room's streams have a size, and deleted ones count until they are removed (S6)", ({ storage }) => {
    const room = open(storage);
    const whole = "x".repeat(STREAM_LIMITS.appendBytes);
    room.create("a");
    const row = STREAM_LIMITS.appendBytes + STREAM_CHARGES.append;
    for (let at = 0; at < 3; at += 1) room.append("a", whole);
    expect(room.streams.bytes).toBe(STREAM_CHARGES.stream + 3 * row);
    expect(room.quota.used).toBe(room.streams.bytes);
    const { roomStreamBytes } = STREAM_LIMITS;
    STREAM_LIMITS.roomStreamBytes = room.streams.bytes + row - 1;
    try {
      expect(refusal(() => room.append("a", whole))).toEqual({ code: "CONFLICT" });
      room.streams.delete("a");
      expect(refusal(() => room.create("b", { data: encoder.encode(whole) }))).toEqual({ code: "CONFLICT" });
      room.sweepAll();
      expect(room.create("b", { data: encoder.encode(whole) }).isNew).toBe(true);
    } finally {
      STREAM_LIMITS.roomStreamBytes = roomStreamBytes;
    }
  });

  test("a room that starts for its alarm counts what it removes once (S6)", ({ storage, reopen }) => {
    const room = open(storage);
    for (const name of ["a", "b"]) {
      room.create(name);
      for (let at = 0; at < 2_500; at += 1) room.append(name, "text");
    }
    room.streams.delete("a");
    for (let life = 0; life < 4; life += 1) {
      const started = open(reopen(), room.clock);
      started.streams.sweep();
      expect(started.streams.bytes).toBe(storage.streams.measure());
    }
    expect(storage.streams.findEnded()).toBeNull();
    expect(storage.streams.measure()).toBe(STREAM_CHARGES.stream + 2_500 * (STREAM_CHARGES.append + 4));
  });

  test("a refused write measures nothing anew, and changes nothing (S6)", ({ storage }) => {
    const room = open(storage);
    room.create("a", { data: encoder.encode("x") });
    const { bytes } = room.streams;
    room.streams.delete("a");
    const fork = { name: "a", offset: null, beyond: 0 };
    for (let at = 0; at < 3; at += 1)
      expect(refusal(() => room.create("b", { fork }))?.code).toBe("NOT_FOUND");
    expect(room.streams.bytes).toBe(bytes);
  });

  test("a page ends beyond an append where it would end within a character", ({ storage }) => {
    const room = open(storage);
    room.create("a");
    room.append("a", "", { data: new Uint8Array([0xf0, 0x9f]) });
    const rest = new Uint8Array(STREAM_LIMITS.appendBytes).fill(0x61);
    rest.set([0x98, 0x80]);
    room.append("a", "", { data: rest });
    expect(room.streams.read("a", "-1").isUpToDate).toBe(true);
  });

  test("forks of forks end at a depth (S4)", ({ storage }) => {
    const room = open(storage);
    room.create("s0", { data: encoder.encode("0") });
    for (let depth = 1; depth <= STREAM_LIMITS.forkDepth; depth += 1) {
      room.create(`s${depth}`, { fork: { name: `s${depth - 1}`, offset: null, beyond: 0 } });
      room.append(`s${depth}`, ` ${depth}`);
    }
    const last = `s${STREAM_LIMITS.forkDepth}`;
    expect(readAll(room.streams, last)).toMatch(/^0 1 2 .* 32$/);
    expect(refusal(() => room.create("more", { fork: { name: last, offset: null, beyond: 0 } }))?.code).toBe(
      "CONFLICT",
    );
  });
});

test("events have every character whole, wherever appends cut it, also in forks (S4, S7)", async ({
  storage,
}) => {
  let names = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "binary", minLength: 1, maxLength: 40 }),
      fc.array(fc.nat(), { maxLength: 8 }),
      fc.nat(8),
      async (text, cuts, forkedAt) => {
        const room = open(storage);
        const bytes = encoder.encode(text);
        const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
        let name = `s${names++}`;
        let [at, read, start] = ["-1", "", 0];
        const follow = () => {
          for (let isAll = false; !isAll; ) {
            const part = room.streams.read(name, at, true);
            read += dataOf(decoder.decode(dataEventOf(part)));
            const [, control = "{}"] = decoder.decode(controlEventOf(part, "1")).match(/data:(.*)/) ?? [];
            at = (JSON.parse(control) as { streamNextOffset: string }).streamNextOffset;
            isAll = part.isUpToDate;
          }
        };
        room.create(name);
        for (const [index, end] of ends.entries()) {
          if (index === forkedAt) {
            const fork = { name, offset: null, beyond: 0 };
            name = `s${names++}`;
            room.create(name, { fork });
          }
          if (end > start) room.append(name, "", { data: bytes.slice(start, end) });
          start = end;
          follow();
        }
        room.append(name, "", { closes: true });
        follow();
        expect(read).toBe(decoder.decode(bytes).replaceAll(/\r\n|\r/g, "\n"));
      },
    ),
  );
});

/** What a reader of Server-Sent Events takes for the data of their data events. */
const dataOf = (events: string): string =>
  events
    .split("\n\n")
    .filter((event) => event.startsWith("event: data\n"))
    .map((event) =>
      event
        .split("\n")
        .slice(1)
        .map((line) => line.slice("data:".length).replace(/^ /, ""))
        .join("\n"),
    )
    .join("");
