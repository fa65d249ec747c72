/** What the cron trigger does each minute: hands on what a crash left in the outbox, clears receipts, files and scripts. */
import { openDatabase } from "./database.ts";
import type { Env } from "./env.ts";
import { sweepOutbox } from "./events/dispatch.ts";
import { subscribersOf } from "./events/subscribers.ts";
import { openBlobs } from "./files/blobs.ts";
import { sweepFiles } from "./files/clearing.ts";
import { RECEIPT_LIFETIME_MS } from "./http/idempotency.ts";
import { logLine } from "./http/on-error.ts";
import { deleteExpiredReceipts } from "./http/store.ts";
import { roomGateway } from "./realtime/gateway.ts";
import { runnerOf } from "./workflows/runner-of.ts";
import { sweepRetiredScripts } from "./workflows/scripts.ts";

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
    sweepFiles(db, openBlobs(env.FILES), now),
    sweepRetiredScripts(db, () => runnerOf(env), now, ports.log),
  ]);
}
