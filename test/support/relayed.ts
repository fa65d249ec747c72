/** Waits for the outbox of D1. */
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { runScheduledTasks } from "../../src/scheduled.ts";

/** The time within which requests delete relayed rows, also on a busy machine. */
const DELETED_WITHIN_MS = 15_000;
const MINUTE_MS = 60_000;

/** How many events of these organizations wait. Other tests' own may wait longer: their cron trigger ran as of later. */
export const eventsWaiting = async (...accountIds: readonly string[]): Promise<number | null> =>
  env.DB.prepare(
    "SELECT count(*) AS n FROM outbox_events WHERE account_id IN (SELECT value FROM json_each(?))",
  )
    .bind(JSON.stringify(accountIds))
    .first<number>("n");

/**
 * Resolves once no event of these organizations waits. The platform may end a request before it has deleted the rows
 * that it relayed: then the cron trigger relays them again, and their receivers know them.
 */
export async function untilRelayed(...accountIds: readonly string[]): Promise<void> {
  const waiting = () => eventsWaiting(...accountIds);
  for (const end = Date.now() + DELETED_WITHIN_MS; Date.now() < end; await scheduler.wait(20))
    if ((await waiting()) === 0) return;
  await runScheduledTasks(env, Date.now() + MINUTE_MS);
  await expect.poll(waiting).toBe(0);
}
