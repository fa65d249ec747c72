/** Writes the access to a room, each change as one batch with its event and its room command. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import type { Permission } from "@atrium/contract/resources/permissions.ts";
import type { RoomAccess, RoomAccessUpdate } from "@atrium/contract/rest/access.ts";
import { RECOUNTED, recountInboxes } from "../../delivery/inboxes.ts";
import { newEvent } from "../../delivery/outbox/event-store.ts";
import { newOutboxEntry, relayChange } from "../../delivery/outbox/outbox.ts";
import { insertOutboxEntry } from "../../delivery/outbox/outbox-store.ts";
import { violatedConstraint } from "../../platform/d1/d1.ts";
import { guardQuota } from "../quotas/guard.ts";
import type { RoomContext } from "../rooms/context.ts";
import { selectRoom, wasJoined } from "../rooms/statements.ts";
import { presentAccess } from "./queries.ts";
import { accessChanged } from "./statements.ts";
import {
  deleteEntries,
  type EntryChange,
  entriesAdded,
  insertAccessEvent,
  isDifferent,
  SUBJECT_MISSING,
  selectChanged,
  selectConcerned,
  selectMissingSubjects,
  setDefaultOfNew,
  upsertEntries,
} from "./store.ts";

const FIELDS = {
  group: "groupsAccesses",
  identity: "identitiesAccesses",
  default: "defaultAccesses",
} as const;

function changesOf(update: RoomAccessUpdate): EntryChange[] {
  const { defaultAccesses: byDefault } = update;
  const named = (["group", "identity"] as const).flatMap((kind) =>
    Object.entries(update[FIELDS[kind]] ?? {}).map(([subjectId, permissions]) => ({
      kind,
      subjectId,
      permissions,
    })),
  );
  if (byDefault === undefined) return named;
  return [
    { kind: "default", subjectId: "", permissions: byDefault.length === 0 ? null : byDefault },
    ...named,
  ];
}

/** The identity that the changes are about; null if they are about others as well. */
const onlyIdentityIn = ([first, ...others]: readonly EntryChange[]): string | null =>
  first?.kind === "identity" && others.length === 0 ? first.subjectId : null;

/** The same number as in other validations. */
const MAX_EXPLAINED = 3;

/** Translates the error of a batch: VALIDATION_ERROR with the groups and identities that do not exist. */
const refuseMissing = (ctx: RoomContext, changes: readonly EntryChange[]) => async (error: unknown) => {
  if (violatedConstraint(error) !== SUBJECT_MISSING) throw error;
  const [missing] = await ctx.db.run([selectMissingSubjects(ctx, changes)]);
  if (missing.length === 0) throw error;
  const why = missing
    .slice(0, MAX_EXPLAINED)
    .map(({ kind, id }) => `${FIELDS[kind]}.${id}: there is no such ${kind}`);
  throw new AppError("Access", "VALIDATION_ERROR", why.join("; "));
};

/**
 * Changes entries of a room's access, all of them or none, and has the room apply it to users online. The
 * result has the entries in the update. NOT_FOUND without the room, VALIDATION_ERROR for a group or an identity
 * that does not exist, FORBIDDEN beyond the quota.
 */
export async function updateRoomAccess(
  ctx: RoomContext,
  roomId: string,
  update: RoomAccessUpdate,
): Promise<Partial<RoomAccess> & { pending_rooms: number }> {
  const changes = changesOf(update);
  const entry = newOutboxEntry(ctx, roomId, accessChanged(onlyIdentityIn(changes)));
  const quota = guardQuota(ctx, "access_entries", entriesAdded(ctx, roomId, changes));
  const [events, owed, , , , [room], rows, concerned] = await ctx
    .commit([
      insertAccessEvent(ctx, newEvent(ctx, "access.changed", roomId), changes),
      insertOutboxEntry(entry, [wasJoined(ctx, roomId), isDifferent(ctx, roomId, changes)], ctx.now()),
      quota.statement,
      upsertEntries(ctx, roomId, changes),
      deleteEntries(ctx, roomId, changes),
      selectRoom(ctx, { id: roomId }),
      selectChanged(ctx, roomId, changes),
      selectConcerned(ctx, changes, RECOUNTED + 1),
    ])
    .catch(quota.refuse)
    .catch(refuseMissing(ctx, changes));
  if (room === undefined) throw notFound("Rooms", "Room");
  const stats = await relayChange(ctx, entry, owed, events);
  if (events.length > 0) {
    // The default is for all, also for those without a user in the room.
    const ids = update.defaultAccesses === undefined ? concerned.map(({ id }) => id) : null;
    recountInboxes(ctx, ids, roomId);
  }
  const access = presentAccess(rows);
  return {
    ...(update.defaultAccesses && { default_accesses: access.default_accesses }),
    ...(update.groupsAccesses && { groups_accesses: access.groups_accesses }),
    ...(update.identitiesAccesses && { identities_accesses: access.identities_accesses }),
    pending_rooms: owed.length > 0 && stats === null ? 1 : 0,
  };
}

/** Sets the default of rooms that are created from now on. */
export async function updateDefaultAccess(
  ctx: RoomContext,
  permissions: readonly Permission[],
): Promise<Pick<RoomAccess, "default_accesses">> {
  await ctx.commit(setDefaultOfNew(ctx, permissions));
  return { default_accesses: [...permissions] };
}
