/**
 * Log entries: one JSON line each, with the innermost cause of an error and none of the errors that quote its
 * parameters.
 */
import { afterEach, describe, expect, it, vi } from "vitest";
import { log, logError } from "../../src/platform/log.ts";
import {
  clientRequestIdOf,
  commonTrace,
  parseTraceparent,
  readTrace,
  storeTrace,
  traceIdOf,
  traceOf,
} from "../../src/platform/trace.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

it("writes level, message and fields as one JSON line at the level's console method", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  log("warn", "A queue is long", { account: "a1", webhook: "w1", room: undefined });
  expect(warn.mock.calls).toEqual([
    ['{"level":"warn","message":"A queue is long","account":"a1","webhook":"w1"}'],
  ]);
});

it("logs an error's innermost cause and not the layers that quote what users wrote", () => {
  const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
  logError(
    "A query failed",
    { request: "r1" },
    new Error("params: secret", { cause: new Error("D1 is down") }),
  );
  const [[line = ""] = []] = error.mock.calls as string[][];
  expect(JSON.parse(line)).toMatchObject({ level: "error", request: "r1", error: "D1 is down" });
  expect(line).not.toContain("secret");
});

// Traces: accepted contexts and IDs of clients, and their kept parts.

const [TRACE_ID, PARENT_ID] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
const TRACEPARENT = `00-${TRACE_ID}-${PARENT_ID}-01`;

describe("a traceparent", () => {
  it("is kept as it is, and names its trace", () => {
    expect(parseTraceparent(TRACEPARENT)).toBe(TRACEPARENT);
    expect(traceIdOf(TRACEPARENT)).toBe(TRACE_ID);
    expect(traceOf(new Headers({ traceparent: TRACEPARENT }), "request")).toEqual({
      requestId: "request",
      traceparent: TRACEPARENT,
    });
  });

  it("of a later version is kept in the form of the first", () => {
    expect(parseTraceparent(`cc-${TRACE_ID}-${PARENT_ID}-01-what-comes-later`)).toBe(TRACEPARENT);
  });

  it.each([
    null,
    "",
    TRACE_ID,
    TRACEPARENT.toUpperCase(),
    `ff-${TRACE_ID}-${PARENT_ID}-01`,
    `00-${"0".repeat(32)}-${PARENT_ID}-01`,
    `00-${TRACE_ID}-${"0".repeat(16)}-01`,
    `${TRACEPARENT}-more`,
    `${TRACEPARENT}\r\nX-Evil: 1`,
    `cc-${TRACE_ID}-${PARENT_ID}-01-${"x".repeat(300)}`,
  ])("that is not valid is ignored: %j", (header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });
});

it("a client's request ID is kept if it has a usual form", () => {
  for (const id of ["6b1d4c0e-2f37-4a58-9c1b-7e5a0d92f3b6", "a.b:c_d", "x".repeat(128)])
    expect(clientRequestIdOf(id)).toBe(id);
  for (const other of [null, "", "x".repeat(129), "a b", '{"a":1}', "é"])
    expect(clientRequestIdOf(other)).toBeNull();
});

it("a trace is stored as JSON, with 128 characters of a frame's ID", () => {
  const stored = storeTrace({ requestId: "request", frameId: "f".repeat(300), traceparent: TRACEPARENT });
  expect(readTrace(stored)).toEqual({
    requestId: "request",
    frameId: "f".repeat(128),
    traceparent: TRACEPARENT,
  });
  expect([storeTrace(null), readTrace(null), readTrace(undefined)]).toEqual([null, null, null]);
});

it("several events have the trace that all of them have", () => {
  const [one, other] = ["one", "other"].map((requestId) => storeTrace({ requestId }));
  expect(commonTrace([one, one])).toEqual({ requestId: "one" });
  for (const traces of [[one, other], [one, null], [undefined]]) expect(commonTrace(traces)).toBeNull();
});
