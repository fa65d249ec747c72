/** Removes what deleted organizations own, in bounded slices: first after the request, then by the cron trigger. */
import { purgeAuditEntries } from "../audit/queries.ts";
import { selectUnrelayed } from "../delivery/outbox/outbox-store.ts";
import type { SubscriberGateway } from "../delivery/port/subscriber-port.ts";
import type { PlacedTenant } from "../placement/databases.ts";
import { removePlaced } from "../placement/place.ts";
import type { Database } from "../platform/d1.ts";
import { Slices } from "../platform/slices.ts";
import type { RoomGateway } from "../realtime/port/room-gateway.ts";
import type { RequestLogGateway } from "../request-log/port/request-log-port.ts";
import { purgeWebhooks } from "../webhooks/purge.ts";
import { purgeWorkflows } from "../workflows/purge.ts";
import { purgeRooms } from "./purge-rooms.ts";
import { deleteEmpty, selectDeleted, selectDeletedBefore } from "./store.ts";

/** What one run may do, each slice of at most a thousand rows: the next run follows within a minute. */
const SLICES_PER_RUN = 200;
const ORGANIZATIONS_PER_RUN = 10;
/** Longer than any isolate remembers a credential: after it, no request can create anything more. */
const ROW_REMAINS_MS = 60_000;

export interface DeletionPorts {
  readonly directory: Database;
  openTenant(accountId: string): PlacedTenant;
  readonly rooms: RoomGateway;
  readonly subscribers: SubscriberGateway;
  readonly requestLog: RequestLogGateway;
  log(message: string, error?: unknown): void;
}

/** Removes some of what a deleted organization owns, and in the end its row. Never rejects: a later run continues. */
export async function continueDeletion(
  ports: DeletionPorts,
  accountId: string,
  now: number,
  slices: Slices = new Slices(SLICES_PER_RUN),
): Promise<void> {
  const tenant = ports.openTenant(accountId);
  const { directory } = tenant;
  try {
    const isEmpty =
      (await purgeWebhooks(tenant, ports.subscribers, slices, now)) &&
      (await purgeWorkflows(tenant, ports.subscribers, slices, now)) &&
      (await purgeRooms(tenant, ports.rooms, slices)) &&
      (await purgeAuditEntries(tenant, slices)) &&
      (tenant.db === directory || (await purgeAuditEntries({ db: directory, accountId }, slices)));
    if (!isEmpty) return;
    // What is relayed at the same time would write to the log once it is removed.
    const [unrelayed] = await tenant.db.run([selectUnrelayed(accountId)]);
    if (unrelayed.length > 0) return;
    await ports.subscribers.removeLog(accountId);
    await ports.requestLog.remove(accountId);
    const before = now - ROW_REMAINS_MS;
    if (tenant.db !== directory) {
      const [deleted] = await directory.run([selectDeletedBefore(accountId, before)]);
      if (deleted.length === 0 || !(await removePlaced(tenant))) return;
    }
    await directory.run([deleteEmpty(accountId, before)]);
  } catch (error) {
    ports.log("What a deleted organization owned could not be removed yet", error);
  }
}

/** Continues the deletions that are not complete. */
export async function continueDeletions(ports: DeletionPorts, now: number): Promise<void> {
  const [deleted] = await ports.directory.run([selectDeleted(ORGANIZATIONS_PER_RUN)]);
  const slices = new Slices(SLICES_PER_RUN);
  for (const { id } of deleted) if (slices.areLeft) await continueDeletion(ports, id, now, slices);
}
