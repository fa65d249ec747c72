/** Writes who may do what in a room, each change as one batch with its event and its room command. */
import { RECOUNTED, recountInboxes, recountInboxesWith } from "../../delivery/inboxes.ts";
import { newEvent } from "../../delivery/outbox/event-store.ts";
import { newOutboxEntry, relayChange } from "../../delivery/outbox/outbox.ts";
import { insertOutboxEntry } from "../../delivery/outbox/outbox-store.ts";
import { requireOwner } from "../../platform/d1/context.ts";
import { violatedConstraint } from "../../platform/d1/d1.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import type { Permission } from "../../wire/permissions.ts";
import { guardQuota } from "../quotas/guard.ts";
import type { RoomContext } from "../rooms/context.ts";
import { selectJoinedRoom, selectRoom } from "../rooms/statements.ts";
import { presentAccess } from "./queries.ts";
import type { RoomAccess, RoomAccessUpdate } from "./schema.ts";
import { accessChanged } from "./statements.ts";
import {
  deleteEntries,
  type EntryChange,
  entriesAdded,
  insertAccessEvent,
  SUBJECT_MISSING,
  selectChanged,
  selectConcerned,
  selectDifferences,
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

/** As many as other validations name. */
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
 * Changes entries of a room's access, all of them or none, and has the room apply it to those who are online. The
 * result has what the update names. NOT_FOUND without the room, VALIDATION_ERROR for a group or an identity that does not
 * exist, FORBIDDEN beyond the quota.
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
      insertOutboxEntry(
        entry,
        [selectJoinedRoom(ctx, roomId), selectDifferences(ctx, roomId, changes)],
        ctx.now(),
      ),
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
    const ids = concerned.map(({ id }) => id);
    if (update.defaultAccesses === undefined) recountInboxes(ctx, ids, roomId);
    else recountInboxesWith(ctx, roomId); // the default is for all, also for those without a user in the room
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
  requireOwner(ctx);
  await ctx.commit(setDefaultOfNew(ctx, permissions));
  return { default_accesses: [...permissions] };
}
