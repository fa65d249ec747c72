/** The archive of an organization's event log: its shards go on while they are read, and are restored as they were. */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { EventLogObject } from "../../src/delivery/event-log/object/event-log-object.ts";
import type { LogQuery } from "../../src/delivery/event-log/port/event-log-port.ts";
import { eventLogGateway } from "../../src/delivery/event-log/shards/event-log-gateway.ts";
import { shardOf } from "../../src/delivery/event-log/shards/shard-of.ts";
import type { OutgoingEvent } from "../../src/delivery/port/delivery-record.ts";
import { toAppError } from "../../src/http/refusal.ts";
import { HOUR_MS } from "../../src/platform/durations.ts";
import { collectSlices, restoreSlices } from "../support/archive.ts";

const log = eventLogGateway(env);
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
  await log.append(accountId, "room", events(30));
  await log.countRuns(accountId, "room", { runs: 3, failedRuns: 1 });
  const [object] = log.archived(accountId).slice(shard);
  if (object === undefined) throw new Error("Each shard has an object");
  await runInDurableObject(
    env.EVENT_LOGS.getByName(`${accountId}:${shard}`),
    ({ archived }: EventLogObject) => {
      archived.reader.limits = { rows: 8, bytes: 100_000 };
    },
  );
  const slices = await collectSlices(object, async ({ length }) => {
    if (length < 3) await log.append(accountId, "room", events(2, 30 + 2 * length));
    if (length === 3) await log.eraseUser(accountId, "room", "Zoë");
  });
  expect(slices.length).toBeGreaterThan(4);
  const before = [await log.read(accountId, shard, ALL), await log.hours(accountId, 0, HOUR_MS)];
  await log.append(accountId, "room", events(1, 50));

  await log.remove(accountId);
  for (const slice of slices.slice(0, 2)) await object.restore(slice);
  for (const call of [
    () => log.read(accountId, shard, ALL),
    () => log.append(accountId, "room", events(1, 60)),
  ]) {
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    expect(toAppError(error, "Events")).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 5 });
  }
  await log.remove(accountId); // a restore that is given up
  await restoreSlices(object, slices);
  expect([await log.read(accountId, shard, ALL), await log.hours(accountId, 0, HOUR_MS)]).toEqual(before);
  await log.append(accountId, "room", events(1, 34));
  await log.append(accountId, "room", events(1, 50));
  const after = await log.read(accountId, shard, { ...ALL, after: 34 });
  expect(after).toMatchObject({ type: "slice", events: [{ seq: 35, eventId: "event 50" }] });
});
