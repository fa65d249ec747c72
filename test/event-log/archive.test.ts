/** The archive of an organization's event log: its shards go on while they are read, and are restored as they were. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { EventLogObject } from "../../src/delivery/event-log/event-log-object.ts";
import type { LogQuery } from "../../src/delivery/event-log/log-page.ts";
import {
  eraseFromLog,
  openEventLogs,
  readHours,
  removeLog,
  shardOf,
} from "../../src/delivery/event-log/shards.ts";
import type { OutgoingEvent } from "../../src/delivery/outbox/subscription.ts";
import { toAppError } from "../../src/http/envelope.ts";
import { archivedObject } from "../../src/platform/objects/object-archive.ts";
import { HOUR_MS } from "../../src/platform/time.ts";
import { collectSlices, restoreSlices } from "../support/archive.ts";

const logs = openEventLogs(env);
const ALL: LogQuery = { after: null, from: null, until: null, roomId: null, names: null, limit: 1_000 };

const eventOf = (number: number): OutgoingEvent => ({
  eventId: `event ${number}`,
  event: "user.created",
  roomId: "room",
  body: JSON.stringify({ number, name: "Zoë ✨" }),
  occurredAt: Date.now(),
});
const events = (count: number, first = 0) =>
  Array.from({ length: count }, (_, index) => eventOf(first + index));

it("a shard of the log is restored with its events, their order and its counts, and goes on", async () => {
  const accountId = crypto.randomUUID();
  const shard = shardOf("room");
  await logs(accountId, shard).append(events(30));
  await logs(accountId, shard).countRuns({ runs: 3, failedRuns: 1 });
  const object = archivedObject("Events", () => logs(accountId, shard));
  if (object === undefined) throw new Error("Each shard has an object");
  await runInDurableObject(
    env.EVENT_LOGS.getByName(`${accountId}:${shard}`),
    ({ archived }: EventLogObject) => {
      archived.reader.limits = { rows: 8, bytes: 100_000 };
    },
  );
  const slices = await collectSlices(object, async ({ length }) => {
    if (length < 3) await logs(accountId, shard).append(events(2, 30 + 2 * length));
    if (length === 3) await eraseFromLog(logs, accountId, "room", "Zoë");
  });
  expect(slices.length).toBeGreaterThan(4);
  const before = [await logs(accountId, shard).read(ALL), await readHours(logs, accountId, 0, HOUR_MS)];
  await logs(accountId, shard).append(events(1, 50));

  await removeLog(logs, accountId);
  for (const slice of slices.slice(0, 2)) await object.restore(slice);
  for (const call of [
    () => logs(accountId, shard).read(ALL),
    () => logs(accountId, shard).append(events(1, 60)),
  ]) {
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    expect(toAppError(error, "Events")).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 5 });
  }
  await removeLog(logs, accountId); // a restore that is given up
  await restoreSlices(object, slices);
  expect([await logs(accountId, shard).read(ALL), await readHours(logs, accountId, 0, HOUR_MS)]).toEqual(
    before,
  );
  await logs(accountId, shard).append(events(1, 34));
  await logs(accountId, shard).append(events(1, 50));
  const after = await logs(accountId, shard).read({ ...ALL, after: 34 });
  expect(after).toMatchObject({ type: "slice", events: [{ seq: 35, eventId: "event 50" }] });
});
