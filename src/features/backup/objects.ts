/** The objects of an organization, as backups and restores see them. */

import { INBOX_SHARDS } from "@atrium/contract/resources/inbox.ts";
import { byteLength } from "@atrium/contract/text.ts";
import { SHARDS } from "../../delivery/event-log/shards.ts";
import { openInbox } from "../../delivery/inboxes.ts";
import { openDelivery } from "../../delivery/subscribers.ts";
import type { Env } from "../../env.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { openTenant } from "../../platform/d1/databases.ts";
import {
  type ArchivedObject,
  type ArchiveRpc,
  archivedObject,
} from "../../platform/objects/object-archive.ts";
import { roomGateway } from "../../room/host/gateway.ts";
import type { ObjectRef, ObjectSlices } from "./format.ts";
import { selectOwned } from "./row-store.ts";

/** A response stops at this size; the next request continues. */
const ENOUGH_BYTES = 4 * 1024 * 1024;

interface Owner {
  readonly env: Env;
  readonly accountId: string;
}

/** The object itself. Only for one that {@link findOwned} has found. */
function objectOf({ env, accountId }: Owner, { kind, id }: ObjectRef): ArchivedObject {
  if (kind === "room") return roomGateway(env).archived(id);
  if (kind === "inbox") return archivedObject("Inbox", () => openInbox<ArchiveRpc>(env)(accountId, id));
  const { eventLogs, subscribers } = openDelivery(env);
  if (kind === "log") return archivedObject("Events", () => eventLogs(accountId, Number(id)));
  const key = { kind, accountId, id };
  return archivedObject(kind === "webhook" ? "Webhooks" : "Workflows", () => subscribers(key));
}

/** The organization's own objects, by the rows that it has. */
export async function findOwned<Ref extends ObjectRef>(
  { accountId }: Pick<Owner, "accountId">,
  refs: readonly Ref[],
  db: Database,
): Promise<readonly Ref[]> {
  const idsOf = (of: string) => refs.filter(({ kind }) => kind === of).map(({ id }) => id);
  const [room, webhook, workflow] = await db.run([
    selectOwned("rooms", accountId, idsOf("room")),
    selectOwned("webhooks", accountId, idsOf("webhook")),
    selectOwned("workflows", accountId, idsOf("workflow")),
  ]);
  const found = { room, webhook, workflow };
  const shards = Array.from({ length: SHARDS }, (_, shard) => String(shard));
  return refs.filter(({ kind, id }) => {
    if (kind === "log") return shards.includes(id);
    if (kind === "inbox") return INBOX_SHARDS.includes(id);
    return found[kind].some((row) => row.id === id);
  });
}

/** Slices of objects, from the first one's cursor on, until they are enough for an answer. Deleted ones have none. */
export async function archiveObjects(
  owner: Owner,
  refs: readonly ObjectRef[],
  after: string | null,
): Promise<ObjectSlices> {
  const owned = await findOwned(owner, refs, openTenant(owner.env, owner.accountId).db);
  const objects: ObjectSlices["objects"] = [];
  let bytes = 0;
  let cursor = after;
  for (const [index, { kind, id }] of refs.entries()) {
    if (!owned.some((ref) => ref.kind === kind && ref.id === id)) {
      cursor = null;
      continue;
    }
    const object = objectOf(owner, { kind, id });
    do {
      if (bytes >= ENOUGH_BYTES) return { objects, next: { index, after: cursor } };
      const slice = await object.archive(cursor);
      objects.push({ kind, id, slice });
      bytes += byteLength(JSON.stringify(slice));
      ({ cursor } = slice);
    } while (cursor !== null);
  }
  return { objects, next: null };
}

export async function restoreObjects(owner: Owner, { objects }: ObjectSlices): Promise<void> {
  for (const { slice, ...ref } of objects) await objectOf(owner, ref).restore(slice);
}

/** Opens objects that were restored, which sets their alarms. */
export async function openObjects(owner: Owner, refs: readonly ObjectRef[]): Promise<void> {
  await Promise.all(refs.map((ref) => objectOf(owner, ref).finishRestore()));
}
