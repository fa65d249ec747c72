/** The steps of a long command: a title first, then signs of life, and further tries after transient errors. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CommandError } from "../../../src/cli/process/command.ts";
import { Steps } from "../../../src/cli/process/steps.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Steps that write to a terminal of 40 columns, or to a log. */
function stepsTo(isTTY: boolean) {
  const written: string[] = [];
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0;
  return { written, steps: new Steps(new AbortController().signal, { write, isTTY, columns: 40 }) };
}

const waiting = () => Promise.withResolvers<string>();

it("a log has a line every five seconds, with the latest note", async () => {
  const { written, steps } = stepsTo(false);
  const { promise, resolve } = waiting();
  const step = steps.run("Publishing", () => promise);
  expect(written).toEqual(["Publishing …\n"]);
  await vi.advanceTimersByTimeAsync(5_000);
  steps.note("Uploaded 3 of 12 assets");
  await vi.advanceTimersByTimeAsync(5_000);
  resolve("done");
  expect(await step).toBe("done");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(written.slice(1)).toEqual(["  5 s\n", "  10 s: Uploaded 3 of 12 assets\n"]);
});

it("a terminal has one line that changes every second, fits, and is gone in the end", async () => {
  const { written, steps } = stepsTo(true);
  const { promise, resolve } = waiting();
  const step = steps.run("Publishing", () => promise);
  steps.note("A note that is longer than the terminal is wide");
  await vi.advanceTimersByTimeAsync(2_000);
  steps.print("Created atrium");
  resolve("");
  await step;
  expect(written).toEqual([
    "Publishing …\n",
    "\r\x1b[2K  1 s: A note that is longer than the t",
    "\r\x1b[2K  2 s: A note that is longer than the t",
    "\r\x1b[2K  Created atrium\n",
    "\r\x1b[2K",
  ]);
});

const reason = (code: number, place: string) =>
  new CommandError(
    `wrangler failed: A request to the Cloudflare API (${place}) failed. Refused [code: ${code}]`,
  );

it.each([
  ["D1's 7403", reason(7_403, "/accounts/a/d1/database"), 4],
  ["D1's 10000", reason(10_000, "/accounts/a/d1/database/b/query"), 4],
  ["the network", new CommandError("wrangler failed: fetch failed"), 4],
  ["a missing permission elsewhere", reason(10_000, "/accounts/a/workers/scripts/atrium"), 1],
  ["any other reason", reason(10_195, "/accounts/a/workers/scripts/atrium"), 1],
])("%s is met %s times at most", async (_case, error, times) => {
  const { written, steps } = stepsTo(false);
  let tries = 0;
  const step = steps.run("Trying", async () => {
    tries += 1;
    throw error;
  });
  const result = expect(step).rejects.toBe(error);
  await vi.advanceTimersByTimeAsync(60_000);
  await result;
  expect(tries).toBe(times);
  expect(written.filter((line) => line.includes(": try "))).toHaveLength(times - 1);
});
