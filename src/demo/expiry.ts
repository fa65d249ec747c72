/** Ends the boards of the demo beyond the number that is kept, and deletes what boards leave. */

import { type DeliveryObjects, openDelivery } from "../delivery/subscribers.ts";
import type { Env } from "../env.ts";
import { removeIdentity } from "../features/identities/commands.ts";
import type { RoomDeletionContext } from "../features/rooms/context.ts";
import type { RemovalPorts } from "../features/rooms/expiry.ts";
import { openTenant } from "../platform/d1/databases.ts";
import type { CallBudget } from "../platform/flow/work-budget.ts";
import { readSetting } from "../platform/settings.ts";
import { BOARD } from "./boards.ts";
import { expireSurplusBoards, selectLeftIdentities } from "./store.ts";

/** Ended or deleted in one run at most; the next one follows within a minute. */
const AT_ONCE = 50;

/**
 * Ends boards that no one is in, and deletes the identities of those that are gone, as long as the invocation may make
 * calls. `now` in epoch ms.
 */
export async function expireBoards(
  env: Env,
  ports: RemovalPorts,
  now: number,
  budget: CallBudget,
): Promise<void> {
  const accountId = readSetting(env, "DEMO_ACCOUNT_ID");
  if (accountId === undefined) return;
  const tenant = openTenant(env, accountId);
  const { db } = tenant;
  const deferred: Promise<unknown>[] = [];
  const context: RoomDeletionContext & DeliveryObjects = {
    ...{ trace: null, ...openDelivery(env), ...ports, ...tenant, now: () => now },
    commit: (statements) => db.run(statements),
    defer: (work) => deferred.push(work),
  };
  const surplus = { kept: BOARD.keptBoards, youngFrom: now - BOARD.youngMs, limit: AT_ONCE, now };
  const [, , identities] = await db.run([
    expireSurplusBoards(tenant, "board", surplus),
    expireSurplusBoards(tenant, "quickstart", surplus),
    selectLeftIdentities(tenant, AT_ONCE),
  ]);
  for (const { id } of identities) {
    if (!budget.queries.hasLeft) break;
    budget.calls.spend(); // the relay of events spends what else a removal takes
    await removeIdentity(context, id).catch((error: unknown) =>
      ports.log("An identity of a deleted board was not deleted", error),
    );
  }
  await Promise.all(deferred);
}
