/** Deletes the boards of the demo, those that are a day old and those beyond the number that is kept, and what they leave. */

import type { Env } from "../env.ts";
import { removeGroup, removeIdentity } from "../features/identities/commands.ts";
import { removeRoom } from "../features/rooms/commands.ts";
import type { RoomDeletionContext } from "../features/rooms/context.ts";
import { openTenant } from "../platform/d1/databases.ts";
import type { CallBudget } from "../platform/flow/work-budget.ts";
import { readSetting } from "../platform/settings.ts";
import { BOARD } from "./boards.ts";
import { selectBoardsBefore, selectLeft, selectSurplusBoards } from "./store.ts";

/** Deleted in one run at most; the next one follows within a minute. */
const DELETED_AT_ONCE = 50;

/** The context in the cron trigger; `log` is for boards that a later run has to delete. */
interface ExpiryPorts extends Pick<RoomDeletionContext, "rooms" | "blobs" | "relayEvents" | "log"> {
  newId(): string;
}

/**
 * Deletes expired boards like any room, as long as the invocation may make calls, with the event `room.deleted`, and then the identities and groups of boards that
 * are gone. Links and their guests go with the room. `now` in epoch ms.
 */
export async function expireBoards(
  env: Env,
  ports: ExpiryPorts,
  now: number,
  budget: CallBudget,
): Promise<void> {
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
  /** The relay of events spends what else a removal takes, of the same budget; the next run goes on. */
  const mayRemove = () => {
    const hasLeft = budget.calls.hasLeft && budget.queries.hasLeft;
    if (hasLeft) budget.calls.spend();
    return hasLeft;
  };
  for (const id of new Set([...expired, ...surplus].map((board) => board.id))) {
    if (!mayRemove()) break;
    await removeRoom(context, id).catch((error) => ports.log("A board of the demo was not deleted", error));
  }
  const [identities, groups] = await db.run([
    selectLeft(tenant, "identities", DELETED_AT_ONCE),
    selectLeft(tenant, "identity_groups", DELETED_AT_ONCE),
  ]);
  const logFailure = (error: unknown) => ports.log("What a board of the demo left was not deleted", error);
  const remove = async (
    ids: readonly { readonly id: string }[],
    removal: (id: string) => Promise<unknown>,
  ) => {
    for (const { id } of ids) if (mayRemove()) await removal(id).catch(logFailure);
  };
  await remove(identities, (id) => removeIdentity(context, id));
  await remove(groups, (id) => removeGroup(context, id));
  await Promise.all(deferred);
}
