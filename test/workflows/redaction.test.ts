/** Secrets in what runs log and return. */
import { expect, it } from "vitest";
import { redact } from "../../src/features/workflows/run-starter.ts";
import type { RunReport } from "../../src/sandbox/runners/runner.ts";

const VALUE = 'top "secret"\n\\value';
const SECRETS = [
  ["KEY", VALUE],
  ["PIN", "12345678"],
  ["LONGER", "12345678-and-more"],
] as const;

const reportOf = (status: RunReport["status"], result: string, message = ""): RunReport => ({
  status,
  result,
  logs: [{ level: "log", message, timestamp: "2026-01-31T09:30:00.000Z" }],
  durationMs: 1,
  ranMs: 0,
  isKilled: false,
});

it("leaves a log line without the values, as they are and as JSON writes them, the longest first", () => {
  const message = `a ${VALUE} b ${JSON.stringify({ VALUE })} c 12345678-and-more d 12345678`;
  expect(redact(reportOf("success", "null", message), SECRETS).logs[0]?.message).toBe(
    'a *** b {"VALUE":"***"} c *** d ***',
  );
});

it("leaves a failure without them", () => {
  const { result } = redact(reportOf("failed", `Error: ${VALUE} (line 3)\n    at f (line 3)`), SECRETS);
  expect(result).toBe("Error: *** (line 3)\n    at f (line 3)");
});

it("leaves a result valid JSON, whichever of its parts has one", () => {
  const value = { [`key ${VALUE}`]: [`in ${VALUE}!`, 12345678, -1.5e3, true, null, 'plain \\ "text"'] };
  const { result } = redact(reportOf("success", JSON.stringify(value)), SECRETS);
  expect(JSON.parse(result)).toEqual({
    "key ***": ["in ***!", "***", -1500, true, null, 'plain \\ "text"'],
  });
});

it("reads very long and very deep results", () => {
  const deep = `${"[".repeat(100_000)}"12345678"${"]".repeat(100_000)}`;
  expect(redact(reportOf("success", deep), SECRETS).result).toBe(deep.replace("12345678", "***"));
  const long = JSON.stringify("x\\".repeat(100_000));
  expect(redact(reportOf("success", long), SECRETS).result).toBe(long);
});
