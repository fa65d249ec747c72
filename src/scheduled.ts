/** The tasks of the cron trigger, every minute: relay what a crash left in the outbox, and delete what has expired. */
import type { Env } from "./config.ts";
import { relayPending } from "./delivery/outbox-relay.ts";
import { subscriberGateway } from "./delivery/subscriber-gateway.ts";
import { expireDemoFiles } from "./demo/uploads.ts";
import { openBlobs } from "./files/storage/blobs.ts";
import { collectGarbage } from "./files/storage/garbage-collection.ts";
import { RECEIPT_LIFETIME_MS } from "./http/idempotency/receipt.ts";
import { deleteExpiredReceipts } from "./http/idempotency/store.ts";
import { purgeExpiredInvitations } from "./members/commands.ts";
import { deleteOldHourlyCounts } from "./metrics/queries.ts";
import { purgeExpiredSignIns } from "./people/commands.ts";
import { openDatabase } from "./platform/d1.ts";
import { logError } from "./platform/log.ts";
import { roomGateway } from "./realtime/gateway.ts";
import { selectRunner } from "./sandbox/runners/select-runner.ts";
import { sweepRetiredScripts } from "./workflows/deployment.ts";

export async function runScheduledTasks(env: Env, now: number): Promise<void> {
  const db = openDatabase(env.DB);
  const ports = {
    db,
    rooms: roomGateway(env),
    subscribers: subscriberGateway(env),
    log: (message: string, error: unknown) => logError(message, { task: "scheduled" }, error),
  };
  await Promise.all([
    relayPending(ports, now),
    db.run([deleteExpiredReceipts(now - RECEIPT_LIFETIME_MS)]),
    purgeExpiredSignIns(db, now),
    purgeExpiredInvitations(db, now),
    deleteOldHourlyCounts(db, now),
    expireDemoFiles(env, db, now).then(() => collectGarbage(db, openBlobs(env.FILES), now)),
    sweepRetiredScripts(db, () => selectRunner(env), now, ports.log),
  ]);
}
