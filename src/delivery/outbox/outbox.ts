/** The outbox of a command: an entry in its batch, its relay to the room after the commit, and its deletion. */

import type { RoomStats } from "@atrium/contract/resources/snapshots.ts";
import type { OperationContext, RequestContext } from "../../platform/d1/context.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { sleep } from "../../platform/flow/concurrency.ts";
import type { RoomGateway } from "../../room/host/gateway.ts";
import type { RoomCommand } from "../../room/types/room-object.ts";
import { deleteRelayed, type OutboxEntry } from "./outbox-store.ts";
import type { OutboxEventRow } from "./table.ts";

type RelayContext = Pick<RequestContext, "db" | "log" | "defer"> & { readonly rooms: RoomGateway };

export interface EventRelay {
  /** Relays a request's committed events to their subscribers. Never rejects: the cron trigger retries. */
  relayEvents(
    request: Pick<RequestContext, "db" | "log" | "defer">,
    rows: readonly OutboxEventRow[],
  ): Promise<void>;
}

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
 * Relays a committed command to its room. Returns whether the room has it: if not, the entry stays for the scheduled
 * relay.
 */
export async function relayCommand(ctx: RelayContext, entry: OutboxEntry): Promise<boolean> {
  const isReached = (await applyCommand(ctx, entry)) !== null;
  if (isReached) forget(ctx, entry);
  return isReached;
}

/** Rooms that one request reaches, and the number in parallel; the cron trigger reaches the others. */
const MAX_RELAYED = 1_000;
const RELAYED_AT_ONCE = 20;

/** Relays a command to the rooms of its entries. Returns the number of those that it has not reached yet. */
export async function relayToRooms(
  ctx: RelayContext & Pick<RequestContext, "accountId">,
  command: RoomCommand,
  entries: readonly { readonly id: string; readonly roomId: string }[],
  limit = MAX_RELAYED,
): Promise<number> {
  let reached = 0;
  for (let at = 0; at < Math.min(limit, entries.length); at += RELAYED_AT_ONCE) {
    const together = entries.slice(at, Math.min(at + RELAYED_AT_ONCE, limit));
    const outcomes = await Promise.all(
      together.map((entry) => relayCommand(ctx, { ...entry, accountId: ctx.accountId, command })),
    );
    reached += outcomes.filter((isReached) => isReached).length;
  }
  return entries.length - reached;
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

/** The delay after the first row: much shorter than the age of rows that count as left behind. */
const COLLECT_MS = 50;
const MAX_COLLECTED = 200;
/** The platform has ended a request that still collects after this time: the next one takes its place. */
const STUCK_MS = 5_000;

interface Collected {
  readonly commands: string[];
  readonly events: string[];
  since: number;
}

interface Ports {
  now(): number;
  wait(ms: number): Promise<unknown>;
}

/**
 * Deletes relayed rows together, as a transaction of D1 costs more than a row in it. If a request dies with its
 * rows, the cron trigger relays them again, and their receivers know them by their IDs. Requests share nothing
 * but data: the platform lets none wait for the work of another.
 */
export class RelayedRows {
  readonly #ports: Ports;
  readonly #collected = new Map<string, Collected>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Deletes the row in a while. Most requests defer nothing: the row joins those that another one deletes. */
  delete(
    { db, defer }: Pick<RequestContext, "db" | "defer">,
    accountId: string,
    kind: "commands" | "events",
    id: string,
  ): void {
    const now = this.#ports.now();
    const known = this.#collected.get(accountId);
    const rows = known ?? { commands: [], events: [], since: now };
    this.#collected.set(accountId, rows);
    rows[kind].push(id);
    if (rows.commands.length + rows.events.length >= MAX_COLLECTED) {
      defer(this.#deleteNow(db, accountId, rows));
    } else if (known === undefined || now - known.since >= STUCK_MS) {
      rows.since = now;
      defer(this.#deleteLater(db, accountId, rows));
    }
  }

  async #deleteLater(db: Database, accountId: string, rows: Collected): Promise<void> {
    await this.#ports.wait(COLLECT_MS);
    await this.#deleteNow(db, accountId, rows);
  }

  async #deleteNow(db: Database, accountId: string, rows: Collected): Promise<void> {
    if (this.#collected.get(accountId) === rows) this.#collected.delete(accountId);
    await deleteRows(db, rows);
  }
}

async function deleteRows(db: Database, { commands, events }: Collected): Promise<void> {
  const [first, ...others] = [
    ...(commands.length === 0 ? [] : [deleteRelayed("outbox", commands.splice(0))]),
    ...(events.length === 0 ? [] : [deleteRelayed("outbox_events", events.splice(0))]),
  ];
  if (first !== undefined) await db.run([first, ...others]);
}

export const relayedRows = new RelayedRows({
  now: () => Date.now(),
  wait: sleep,
});
