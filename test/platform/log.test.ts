/** Log entries: one JSON line each, with the innermost cause of an error and nothing of what quotes its parameters. */
import { afterEach, expect, it, vi } from "vitest";
import { log, logError } from "../../src/platform/log.ts";

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
