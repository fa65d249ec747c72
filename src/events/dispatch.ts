/** Hands committed changes on to the live rooms they concern, at once and, after a crash, from the outbox. */
import type { Ctx } from "../context.ts";
import type { Database } from "../database.ts";
import type { RoomGateway } from "../realtime/gateway.ts";
import type { RoomFigures } from "../rooms/schema.ts";
import type { Change } from "./change.ts";
import { deleteOutboxEntry, type OutboxEntry, selectLeftBehind } from "./outbox.ts";

/** An entry this old was left by a request that did not live to hand it on. */
const LEFT_BEHIND_AFTER_MS = 15_000;
const SWEEP_SIZE = 100;

/** The outbox entry for a change that the request is about to commit. */
export const entryFor = (ctx: Ctx, roomId: string, change: Change): OutboxEntry => ({
  id: ctx.newId(),
  accountId: ctx.accountId,
  roomId,
  change,
});

/**
 * Tells the room of a change that is committed. The request's answer does not depend on it: when the room
 * cannot be reached, the entry stays and {@link sweepOutbox} tells it later; null then.
 */
export async function handOn(ctx: Ctx, entry: OutboxEntry): Promise<RoomFigures | null> {
  try {
    const figures = await ctx.rooms.apply(entry.roomId, entry.accountId, entry.change);
    ctx.defer(ctx.db.run([deleteOutboxEntry(entry.id)]));
    return figures;
  } catch (error) {
    ctx.log(`A change could not be handed on to its room yet: ${entry.change.type}`, error);
    return null;
  }
}

/**
 * Hands on what crashed requests left behind; rooms take a change twice without harm. One room that cannot
 * be reached keeps no other waiting: its entry is tried again at the next sweep.
 */
export async function sweepOutbox(
  db: Database,
  rooms: RoomGateway,
  now: number,
  log: (message: string, error: unknown) => void,
): Promise<void> {
  const [leftBehind] = await db.run([selectLeftBehind(now - LEFT_BEHIND_AFTER_MS, SWEEP_SIZE)]);
  for (const row of leftBehind) {
    try {
      await rooms.apply(row.roomId, row.accountId, JSON.parse(row.change) as Change);
      await db.run([deleteOutboxEntry(row.id)]);
    } catch (error) {
      log("A change that was left behind could not be handed on yet", error);
    }
  }
}
