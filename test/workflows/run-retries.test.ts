/** When a failed run is made again, and what its execution shows until then. */
import { expect, it } from "vitest";
import type { DeliveryRecord } from "../../src/delivery/subscriber/delivery.ts";
import { presentCurrentExecution } from "../../src/features/workflows/execution-schema.ts";
import { MAX_RETRIES, planRetry } from "../../src/features/workflows/run-state.ts";

it("a failed run is made again after growing pauses, until there are no retries left", () => {
  const pauses = (retries: number) =>
    Array.from({ length: 7 }, (_, index) => planRetry(index + 1, retries, 1_000)).map(
      (at) => at && (at - 1_000) / 1_000,
    );
  expect(pauses(0)).toEqual([null, null, null, null, null, null, null]);
  expect(pauses(2)).toEqual([5, 30, null, null, null, null, null]);
  expect(pauses(MAX_RETRIES)).toEqual([5, 30, 120, 600, 1_800, null, null]);
});

it("an execution that waits for a retry, or is in one, shows what the run before has failed of", () => {
  const logs = [{ level: "log", message: "so far", timestamp: "2026-01-31T09:30:00.000Z" }];
  const run = { attempted_at: "2026-01-31T09:30:00.000Z", duration_ms: 7, result: null, version: 2, logs };
  const delivery: DeliveryRecord = {
    ...{ id: "execution", seq: 1, eventId: "event", event: "user.created", roomId: "room", body: "{}" },
    ...{ occurredAt: 0, createdAt: 0, lastAttemptAt: 0, dueAt: 5_000, status: "pending", attempts: 1 },
    error: "Error: odd (line 1)",
    log: JSON.stringify([run]),
  };
  const shown = (isInFlight: boolean) => presentCurrentExecution("workflow", { delivery, isInFlight });
  expect(shown(false)).toEqual({
    ...{ id: "execution", workflow_id: "workflow", event: "user.created", status: "pending" },
    ...{ result: "Error: odd (line 1)", version: 2, attempts: 1, duration_ms: 7, logs },
    created_at: "1970-01-01T00:00:00.000Z",
  });
  expect(shown(true)).toEqual({ ...shown(false), status: "running" });
});
