/** Waits for the outbox of D1. */
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { runScheduledTasks } from "../../src/scheduled.ts";

/** The time within which requests delete what they have relayed, also on a busy machine. */
const DELETED_WITHIN_MS = 15_000;
const MINUTE_MS = 60_000;

const waiting = () => env.DB.prepare("SELECT count(*) AS n FROM outbox_events").first<number>("n");

/**
 * Resolves once no event waits. The platform may end a request before it has deleted the rows that it relayed: then the
 * cron trigger relays them again, and their receivers know them.
 */
export async function untilRelayed(): Promise<void> {
  for (const end = Date.now() + DELETED_WITHIN_MS; Date.now() < end; await scheduler.wait(20))
    if ((await waiting()) === 0) return;
  await runScheduledTasks(env, Date.now() + MINUTE_MS);
  await expect.poll(waiting).toBe(0);
}

/**
 * Runs the cron trigger as on a later day. It also ends links of other tests: the events of that day, which no cron
 * trigger of today relays, are deleted.
 */
export async function sweepOn(later: number): Promise<void> {
  await runScheduledTasks(env, later);
  await env.DB.prepare("DELETE FROM outbox_events WHERE occurred_at >= ?").bind(later).run();
}
