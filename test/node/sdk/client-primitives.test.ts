/** The pure parts of the client: reconnect delays, throttling, frames and tokens. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { TokenBucket } from "@atrium/contract/pacing/token-bucket.ts";
import { AtriumClient } from "atrium/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChangeStream } from "../../../packages/sdk/client/connection/change-stream.ts";
import { parseFrame, readJoined } from "../../../packages/sdk/client/connection/frames.ts";
import { planReconnect, reconnectDelayMs } from "../../../packages/sdk/client/connection/machine.ts";
import { SEND_RATE } from "../../../packages/sdk/client/connection/requests.ts";
import { Transport } from "../../../packages/sdk/client/connection/transport.ts";
import { Emitter } from "../../../packages/sdk/core/emitter.ts";
import { AtriumError } from "../../../packages/sdk/core/error.ts";
import { toFrame } from "../../../packages/sdk/core/json.ts";
import { newId } from "../../../packages/sdk/core/runtime.ts";
import { rounded } from "../../../packages/sdk/react-ui/cursor-motion.ts";
import { CLOSE } from "../../../src/room/protocol/protocol.ts";
import { Clock } from "./clock.ts";
import { settle } from "./model/model-client.ts";
import { ModelSocket } from "./model/model-socket.ts";

it("changes are handed over once and in order, and a missing one is noticed (R32, R33)", () => {
  const stream = new ChangeStream();
  const handed: unknown[] = [];
  stream.handle("changed", ({ number }) => handed.push(number));
  const receive = (seq: number) => stream.receive({ event: "changed", data: { number: seq }, seq });
  stream.continueFrom(4, "an epoch");
  expect([receive(5), receive(5), receive(6)]).toEqual([true, true, true]);
  expect([receive(8), stream.seq]).toEqual([false, undefined]);
  expect(handed).toEqual([5, 6]);
});

it("a pointer's position is exact to a pixel of its area, however far that is zoomed in", () => {
  for (const zoom of [0.1, 0.5, 1, 2, 8, 10, 64])
    for (const place of [0, 1.234_567, 100.05, -7.77])
      expect(Math.abs(rounded(place, zoom) - place) * zoom).toBeLessThanOrEqual(0.5 + 1e-9);
  expect([rounded(12.345, 1), rounded(12.345, 8), rounded(12.345, 0.1)]).toEqual([12, 12.3, 12]);
});

describe("a reconnect", () => {
  it("waits a random part of a limit that doubles from 1 s to 10 s, from the first attempt on (R76)", () => {
    const longest = [1, 2, 3, 4, 5, 6, 100].map((attempt) => reconnectDelayMs(attempt, "soon", 1));
    expect(longest).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
    expect(reconnectDelayMs(1, "soon", 0)).toBe(0);
    expect(reconnectDelayMs(3, "soon", 0.25)).toBe(1000);
  });

  it("waits 5 to 10 s, even the first time, when the service must be spared", () => {
    expect([0, 0.5, 1].map((random) => reconnectDelayMs(1, "later", random))).toEqual([5000, 7500, 10_000]);
  });

  it("is not attempted after a final close code, and is after any other", () => {
    const plan = Object.entries(CLOSE).map(([name, code]) => [name, planReconnect({ code, reason: "" })]);
    expect(Object.fromEntries(plan)).toEqual({
      left: "never",
      silent: "soon",
      failed: "soon",
      protocolBroken: "never",
      unauthorized: "never",
      forbidden: "never",
      roomDeleted: "never",
      joinTimeout: "soon",
      tooManySockets: "later",
      frameTooLarge: "never",
      readerTooSlow: "never",
      flooding: "later",
    });
    expect(planReconnect({ code: CLOSE.readerTooSlow, reason: "reader too slow" })).toBe("soon");
    expect([1001, 1005, 1006, 1012, 4999].map((code) => planReconnect({ code, reason: "" }))).toEqual(
      Array(5).fill("soon"),
    );
  });
});

describe("listeners", () => {
  class TestEmitter extends Emitter<Record<string, number>> {
    ring = (event: string, times: number) => this.emit(event, times);
  }

  it("are called once each, in the order of registration, until they are removed", () => {
    const emitter = new TestEmitter();
    const heard: string[] = [];
    const first = (times: number) => heard.push(`first ${times}`);
    const off = emitter.on("ring", first);
    emitter.on("ring", first);
    emitter.on("ring", (times) => heard.push(`second ${times}`));
    emitter.ring("ring", 1);
    off();
    emitter.ring("ring", 2);
    expect(heard).toEqual(["first 1", "second 1", "second 2"]);
  });

  it("may throw, be added or removed during a call, and listen to any name", () => {
    const reported: unknown[] = [];
    const consoleError = console.error;
    console.error = (error: unknown) => reported.push(error);
    const emitter = new TestEmitter();
    const heard: string[] = [];
    const last = () => heard.push("last");
    emitter.on("__proto__", () => {
      emitter.off("__proto__", last);
      emitter.on("__proto__", () => heard.push("new"));
      throw new Error("Mine");
    });
    emitter.on("__proto__", () => heard.push("next"));
    emitter.on("__proto__", last);
    emitter.ring("__proto__", 1);
    console.error = consoleError;
    expect(heard).toEqual(["next"]);
    expect(reported).toEqual([new Error("Mine")]);
  });
});

it("a transport sends nothing on a socket that is closing", async () => {
  const frames: string[] = [];
  const socket = new ModelSocket("ada", (frame) => frames.push(frame));
  const clock = new Clock();
  clock.open = () => socket as unknown as WebSocket;
  const opened = Promise.withResolvers<void>();
  const transport = new Transport("", clock, {
    opened: opened.resolve,
    received: () => {},
    closed: () => {},
  });
  await opened.promise;
  transport.send("one");
  socket.isClosing = true;
  transport.send("two");
  while (socket.deliverUp());
  expect(frames).toEqual(["one"]);
});

it("a transport that is dropped is heard no more, also after the engine has collected garbage", async () => {
  const clock = new Clock();
  const socket = new ModelSocket("ada", () => {});
  clock.open = () => socket as unknown as WebSocket;
  const heard: string[] = [];
  const transport = new Transport("ws://localhost", clock, {
    opened: () => heard.push("opened"),
    received: () => heard.push("received"),
    closed: () => heard.push("closed"),
  });
  // Node forgets that a signal ends a listener when another listener of the socket has a signal, and memory is freed.
  socket.addEventListener("message", () => {}, { signal: new AbortController().signal });
  await settle(); // what was made in a turn is kept until its end
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  transport.drop(1000);
  socket.dispatchEvent(Object.assign(new Event("close"), { code: 1000, reason: "" }));
  expect(heard).toEqual(["opened"]);
});

it("the send rate allows a burst of 800 frames and then 150 a second, always less than the service allows (R60)", () => {
  const bucket = new TokenBucket(SEND_RATE, 0);
  const sendAt = (now: number) => {
    let sent = 0;
    for (; bucket.left(now) >= 1; sent += 1) bucket.spend(1, now);
    return sent;
  };
  expect([sendAt(0), sendAt(1000), sendAt(1100), sendAt(100_000)]).toEqual([800, 150, 15, 800]);
  for (let forced = 0; forced < 10; forced += 1) bucket.spend(1, 100_000);
  expect(sendAt(101_000)).toBe(140);
});

describe("a received frame", () => {
  it("is parsed as one message or as several", () => {
    const event = { type: "event", event: "userLeft", data: { userId: "bo" } };
    const change = { type: "event", seq: 7, event: "userDeleted", data: {} };
    const answer = { type: "response", success: true, requestId: "1", data: { seq: 7 }, error: null };
    const read = { event: "userLeft", data: { userId: "bo" }, seq: null };
    expect(parseFrame(JSON.stringify(event))).toEqual([read]);
    expect(parseFrame(JSON.stringify([event, change, answer]))).toEqual([
      read,
      { event: "userDeleted", data: {}, seq: 7 },
      { requestId: "1", data: { seq: 7 }, fault: null },
    ]);
  });

  it("is ignored when it cannot be understood", () => {
    const frames = ["", "{", "null", "7", '"pong"', "[[]]", '{"type":"event"}', '{"type":"event","event":1}'];
    expect([...frames, '{"type":"response","success":true}'].flatMap(parseFrame)).toEqual([]);
  });

  it("never breaks the parser, whatever it contains", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const message of parseFrame(JSON.stringify(value)))
          expect("event" in message || "requestId" in message).toBe(true);
        expect(readJoined({ room: { id: "r", name: "R" }, seq: 1, users: value, follows: value })).not.toBe(
          null,
        );
      }),
    );
  });
});

describe("a sent message", () => {
  it("is rejected when the service would not answer it", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const deep = JSON.parse(`${"[".repeat(40)}${"]".repeat(40)}`);
    const wrong = [
      cycle,
      { deep },
      { big: 1n },
      { text: "a".repeat(256 * 1024) },
      { text: "é".repeat(131_072) },
    ];
    for (const message of wrong) {
      expect(() => toFrame(message)).toThrow(
        expect.objectContaining({ name: "AtriumError", code: "VALIDATION_ERROR", module: "Client" }),
      );
    }
    expect(toFrame(deep)).toHaveLength(80);
  });

  it("has an id of its own as its request ID", () => {
    const ids = Array.from({ length: 1000 }, newId);
    for (const id of ids) expect(id).toMatch(/^\d{1,10}(-\d{1,10}){3}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("a token", () => {
  const tokenOf = (claims: unknown) =>
    `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2lnbmF0dXJl`;

  it("determines the URL of the socket", () => {
    const claims = { accountId: "ä-1", roomId: "r/2", userId: "u>>>???", role: "editor" };
    const path = "/v1/accounts/%C3%A4-1/rooms/r%2F2/socket?refusal=close";
    const opened: string[] = [];
    const clock = new Clock();
    clock.open = (url) => {
      opened.push(url);
      throw new Error("The network is down");
    };
    for (const serverUrl of ["http://localhost:8787", "https://example.com/atrium/"]) {
      const client = new AtriumClient({ serverUrl, authToken: tokenOf(claims) }, clock);
      client.connect().catch(() => {});
      expect(client.userId).toBe(claims.userId);
    }
    expect(opened).toEqual([`ws://localhost:8787${path}`, `wss://example.com/atrium${path}`]);
  });

  it("or a server URL that is invalid is rejected at once", () => {
    const claims = { accountId: "a", roomId: "r", userId: "u" };
    const [serverUrl, authToken] = ["http://localhost", tokenOf(claims)];
    for (const token of ["", "a.b.c", "e30", tokenOf(null), tokenOf({ ...claims, roomId: 1 })])
      expect(() => new AtriumClient({ serverUrl, authToken: token })).toThrow(AtriumError);
    for (const url of ["", "localhost:8787", "ftp://localhost", "http://"])
      expect(() => new AtriumClient({ serverUrl: url, authToken })).toThrow(AtriumError);
  });
});
