/** Removes the data of deleted organizations in chunks: first after the request, then by the cron trigger. */
import { removeLog } from "../../delivery/event-log/shards.ts";
import { selectUnrelayed } from "../../delivery/outbox/outbox-store.ts";
import type { DeliveryObjects } from "../../delivery/subscribers.ts";
import type { Database, Tenant } from "../../platform/d1/d1.ts";
import { DIRECTORY, type PlacedTenant } from "../../platform/d1/databases.ts";
import { deleteInChunks } from "../../platform/d1/expiry.ts";
import { deleteFence } from "../../platform/d1/fence-store.ts";
import { removePlaced } from "../../platform/d1/place.ts";
import { roundRobin, TIMED_OUT, withTimeLimit } from "../../platform/flow/concurrency.ts";
import { newCallBudget, WorkBudget } from "../../platform/flow/work-budget.ts";
import type { RoomGateway } from "../../room/host/gateway.ts";
import { purgeAuditEntries } from "../audit/queries.ts";
import { purgeIdentities } from "../identities/commands.ts";
import { deleteMailCounts } from "../mail/statements.ts";
import type { RequestLogs } from "../request-log/request-log-object.ts";
import { purgeRoom } from "../rooms/commands.ts";
import { forgetRoom } from "../rooms/queries.ts";
import { markDeleted, selectSomeRooms } from "../rooms/statements.ts";
import type { UserContext } from "../users/context.ts";
import { purgeWebhooks } from "../webhooks/commands.ts";
import { purgeWorkflows } from "../workflows/commands.ts";
import { deleteMembershipsOf } from "./statements.ts";
import { deleteEmpty, selectDeleted, selectDeletedBefore } from "./store.ts";

const ROOMS_AT_ONCE = 20;

/** Removes rooms until none is left (true) or the budget is spent. A room's row goes last, so that a crash costs nothing. */
export async function purgeRooms(
  tenant: Tenant,
  rooms: Pick<RoomGateway, "apply">,
  budget: WorkBudget,
  now: number,
): Promise<boolean> {
  return budget.run(async () => {
    const [found] = await tenant.db.run([selectSomeRooms(tenant, ROOMS_AT_ONCE)]);
    for (const { id } of found) forgetRoom(tenant.accountId, id);
    await Promise.all(found.map(({ id }) => rooms.apply(id, tenant.accountId, { type: "room.deleted" })));
    for (const { id } of found) {
      await tenant.db.run([markDeleted(tenant, id, now)]);
      if (!(await purgeRoom(tenant, id, budget))) return true;
    }
    return found.length === ROOMS_AT_ONCE;
  });
}

/** Chunks, each of at most a thousand rows, within the request that deletes an organization. */
const CHUNKS_PER_REQUEST = 150;
/** Limits of one run of the cron trigger, and `chunks` of each turn: the next run follows within a minute. */
const RUN = { organizations: 10, turns: 10, concurrency: 4, chunks: 30, turnMs: 10_000 };
/** Longer than any isolate remembers a credential, so that no request can create anything more. */
const ROW_REMAINS_MS = 60_000;

export interface DeletionPorts extends DeliveryObjects {
  readonly directory: Database;
  readonly databases: ReadonlyMap<string, Database>;
  openTenant(accountId: string): PlacedTenant;
  readonly rooms: RoomGateway;
  readonly requestLogs: RequestLogs;
  log(message: string, error?: unknown): void;
}

export interface OrganizationContext extends UserContext, DeletionPorts {}

/** Removes a chunk of a deleted organization, its row last. Never rejects: a later run continues. */
export async function continueDeletion(
  ports: DeletionPorts,
  accountId: string,
  now: number,
  budget: WorkBudget = new WorkBudget(CHUNKS_PER_REQUEST),
): Promise<void> {
  const tenant = ports.openTenant(accountId);
  const { directory } = tenant;
  try {
    const isEmpty =
      (await deleteInChunks(directory, (limit) => deleteMembershipsOf(tenant, limit), budget)) &&
      (await purgeWebhooks(tenant, ports, budget, now)) &&
      (await purgeWorkflows(tenant, ports, budget, now)) &&
      (await purgeIdentities(tenant, ports.inboxes, budget)) && // links go before rooms
      (await purgeRooms(tenant, ports.rooms, budget, now)) &&
      (await purgeAuditEntries(tenant, budget)) &&
      (tenant.db === directory || (await purgeAuditEntries({ db: directory, accountId }, budget)));
    if (!isEmpty) return;
    // A concurrent relay would write to the log after its removal.
    const [unrelayed] = await tenant.db.run([selectUnrelayed(accountId)]);
    if (unrelayed.length > 0) return;
    await directory.run([deleteMailCounts(tenant)]);
    await removeLog(ports.eventLogs, accountId);
    await ports.requestLogs(accountId).remove();
    const before = now - ROW_REMAINS_MS;
    if (tenant.db !== directory) {
      const [deleted] = await directory.run([selectDeletedBefore(accountId, before)]);
      if (deleted.length === 0 || !(await removePlaced(tenant))) return;
    }
    for (const [name, db] of ports.databases) if (name !== DIRECTORY) await db.run([deleteFence(accountId)]);
    await directory.run([deleteEmpty(accountId, before), deleteFence(accountId)]);
  } catch (error) {
    ports.log("What a deleted organization owned could not be removed yet", error);
  }
}

/** Continues deletions in turns, so that none holds up others. Each run begins behind another random `firstId`. */
export async function continueDeletions(
  ports: DeletionPorts,
  now: number,
  firstId: string,
  { queries } = newCallBudget(ports.plan),
  limits = RUN,
): Promise<void> {
  const [deleted] = await ports.directory.run([selectDeleted(firstId, limits.organizations)]);
  await roundRobin(deleted, limits, async (organization) => {
    const budget = new WorkBudget(limits.chunks, queries);
    const turn = continueDeletion(ports, organization.id, now, budget);
    if ((await withTimeLimit(turn, limits.turnMs)) === TIMED_OUT) {
      ports.log("The removal of a deleted organization took too long; it continues later");
      return null;
    }
    return budget.hasLeft ? null : organization;
  });
}
