/** Deletes the boards of the demo: those that are a day old, and those beyond the number that is kept. */

import type { Env } from "../env.ts";
import { deleteRoom } from "../features/rooms/commands.ts";
import type { RoomDeletionContext } from "../features/rooms/context.ts";
import { openTenant } from "../platform/d1/databases.ts";
import { readSetting } from "../platform/settings.ts";
import { BOARD } from "./boards.ts";
import { selectBoardsBefore, selectSurplusBoards } from "./store.ts";

/** Deleted in one run at most; the next one follows within a minute. */
const DELETED_AT_ONCE = 50;

/** The context in the cron trigger; `log` is for boards that a later run has to delete. */
interface ExpiryPorts extends Pick<RoomDeletionContext, "rooms" | "blobs" | "relayEvents" | "log"> {
  newId(): string;
}

/** Deletes expired boards like any room, with the event `room.deleted`. `now` in epoch ms. */
export async function expireBoards(env: Env, ports: ExpiryPorts, now: number): Promise<void> {
  const accountId = readSetting(env, "DEMO_ACCOUNT_ID");
  if (accountId === undefined) return;
  const tenant = openTenant(env, accountId);
  const { db } = tenant;
  const [expired, surplus] = await db.run([
    selectBoardsBefore(tenant, now - BOARD.lifetimeMs, DELETED_AT_ONCE),
    selectSurplusBoards(tenant, BOARD.keptBoards, DELETED_AT_ONCE),
  ]);
  const deferred: Promise<unknown>[] = [];
  const context: RoomDeletionContext = {
    trace: null,
    ...ports,
    ...tenant,
    now: () => now,
    commit: (statements) => db.run(statements),
    defer: (work) => deferred.push(work),
  };
  for (const id of new Set([...expired, ...surplus].map((board) => board.id))) {
    await deleteRoom(context, id).catch((error) => ports.log("A board of the demo was not deleted", error));
  }
  await Promise.all(deferred);
}
