/** What the cron trigger does each minute: hands on what a crash left in the outbox, and clears what is done with or has expired. */

import type { Env } from "./config.ts";
import { sweepOutbox } from "./delivery/outbox-relay.ts";
import { subscribersOf } from "./delivery/subscriber-gateway.ts";
import { openBlobs } from "./files/blobs.ts";
import { sweepFiles } from "./files/garbage-collection.ts";
import { logLine } from "./http/error-response.ts";
import { RECEIPT_LIFETIME_MS } from "./http/idempotency/idempotency.ts";
import { deleteExpiredReceipts } from "./http/idempotency/store.ts";
import { sweepInvitations } from "./members/commands.ts";
import { sweepActivity } from "./metrics/queries.ts";
import { sweepSessions } from "./people/commands.ts";
import { openDatabase } from "./platform/d1.ts";
import { roomGateway } from "./realtime/gateway.ts";
import { runnerOf } from "./sandbox/runners/select-runner.ts";
import { sweepRetiredScripts } from "./workflows/deployment.ts";

export async function keepHouse(env: Env, now: number): Promise<void> {
  const db = openDatabase(env.DB);
  const ports = {
    db,
    rooms: roomGateway(env),
    subscribers: subscribersOf(env),
    log: (message: string, error: unknown) => console.error(logLine("cron", message, error)),
  };
  await Promise.all([
    sweepOutbox(ports, now),
    db.run([deleteExpiredReceipts(now - RECEIPT_LIFETIME_MS)]),
    sweepSessions(db, now),
    sweepInvitations(db, now),
    sweepActivity(db, now),
    sweepFiles(db, openBlobs(env.FILES), now),
    sweepRetiredScripts(db, () => runnerOf(env), now, ports.log),
  ]);
}
