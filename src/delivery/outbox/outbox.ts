/** The outbox of a command: an entry in its batch, and a relay to the live room once that is committed. */
import type { OperationContext, RequestContext } from "../../platform/context/context.ts";
import type { RoomGateway } from "../../room/host/gateway.ts";
import type { RoomCommand } from "../../room/types/room-object.ts";
import type { RoomStats } from "../../wire/snapshots.ts";
import type { OutboxEntry } from "./command-store.ts";
import { relayedRows } from "./relayed-rows.ts";
import type { OutboxEventRow } from "./table.ts";

/** The context of a relay, in a request or in the cron trigger. */
type RelayContext = Pick<RequestContext, "db" | "log" | "defer"> & { readonly rooms: RoomGateway };

/** The port through which a command's events reach their subscribers. */
export interface EventRelay {
  /** Relays a request's committed events to their subscribers. Never rejects: the cron trigger retries. */
  relayEvents(
    request: Pick<RequestContext, "db" | "log" | "defer">,
    rows: readonly OutboxEventRow[],
  ): Promise<void>;
}

/** The outbox entry for a command that follows from the change the request is about to commit. */
export const newOutboxEntry = (
  ctx: Pick<RequestContext, "newId" | "accountId"> & Pick<OperationContext, "trace">,
  roomId: string,
  command: RoomCommand,
): OutboxEntry => ({
  id: ctx.newId(),
  accountId: ctx.accountId,
  roomId,
  command: { ...command, trace: ctx.trace },
});

/** Has the room carry out the command, and returns the stats after it. Null when the room cannot be reached. */
async function applyCommand(
  ctx: RelayContext,
  { roomId, accountId, command }: OutboxEntry,
): Promise<RoomStats | null> {
  try {
    return await ctx.rooms.apply(roomId, accountId, command);
  } catch (error) {
    ctx.log(`A command could not be relayed to its room yet: ${command.type}`, error);
    return null;
  }
}

const forget = (ctx: RelayContext, { accountId, id }: OutboxEntry): void =>
  relayedRows.delete(ctx, accountId, "commands", id);

/**
 * Relays a committed command to its room. The response does not depend on it: when the room cannot be reached, the entry
 * stays for the scheduled relay.
 */
export async function relayCommand(ctx: RelayContext, entry: OutboxEntry): Promise<void> {
  if ((await applyCommand(ctx, entry)) !== null) forget(ctx, entry);
}

/**
 * Relays the outbox rows that a committed batch wrote: first the room command, if `entries` holds its row, then the
 * events. In this order, subscribers receive the events that the room records first. Never rejects; returns the
 * room's stats after the command, null when it took none.
 */
export async function relayChange(
  ctx: RelayContext & EventRelay,
  entry: OutboxEntry,
  entries: readonly unknown[],
  events: readonly OutboxEventRow[],
): Promise<RoomStats | null> {
  const stats = entries.length === 0 ? null : await applyCommand(ctx, entry);
  // If the room did not take its command, the events wait for the cron trigger: they must not overtake the room's.
  if (entries.length === 0 || stats !== null) await ctx.relayEvents(ctx, events);
  if (stats !== null) forget(ctx, entry); // now, because the rows of the events are deleted in the same trip
  return stats;
}
