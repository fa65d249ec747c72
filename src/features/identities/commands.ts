/** The commands on identities, groups and their members, each committed as one batch. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import {
  ERASED_IDENTITY,
  type Group,
  type Identity,
  presentGroup,
  presentIdentity,
} from "@atrium/contract/resources/identity.ts";
import type {
  GroupCreation,
  GroupUpdate,
  IdentityCreation,
  IdentityUpdate,
} from "@atrium/contract/rest/identities.ts";
import { MAX_GROUPS } from "@atrium/contract/rest/identities.ts";
import { fold } from "@atrium/contract/text.ts";
import { callShards, type Inboxes, RECOUNTED, recountInboxes } from "../../delivery/inboxes.ts";
import { newEvent } from "../../delivery/outbox/event-store.ts";
import { type EventRelay, relayToRooms } from "../../delivery/outbox/outbox.ts";
import { redactPendingIdentity } from "../../delivery/outbox/outbox-store.ts";
import { deleteWebhooksOf } from "../../delivery/outbox/subscriber-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import { type DeliveryObjects, removeWebhooks } from "../../delivery/subscribers.ts";
import type { OperationContext, RequestContext } from "../../platform/d1/context.ts";
import { rowOf, type Statement, statement, type Tenant, violatedConstraint } from "../../platform/d1/d1.ts";
import { deleteInChunks } from "../../platform/d1/expiry.ts";
import { WorkBudget } from "../../platform/flow/work-budget.ts";
import type { RoomGateway } from "../../room/host/gateway.ts";
import {
  accessChanged,
  deleteSomeEntries,
  selectManyEntries,
  selectMembersAfter,
  tellRoomsOfGroup,
  tellRoomsOfIdentity,
  tellRoomsOfMember,
} from "../access/statements.ts";
import { guardQuota, type QuotaContext } from "../quotas/guard.ts";
import type { Tokens } from "../users/tokens.ts";
import {
  deleteMember,
  deleteSomeMembers,
  GROUPS,
  insertGroup,
  insertMember,
  insertMemberAdded,
  insertMemberRemoved,
  membersAdded,
  selectManyMembers,
  selectMember,
} from "./group-store.ts";
import { idsOf } from "./link-store.ts";
import { noGroup, noIdentity } from "./queries.ts";
import {
  deleteIdentities,
  endTokensOf,
  IDENTITIES,
  insertIdentity,
  PURGES,
  selectSomeIdentities,
} from "./store.ts";
import { type IdentityRow, identities, identityGroups } from "./table.ts";

export interface IdentityContext
  extends RequestContext,
    QuotaContext,
    EventRelay,
    Pick<DeliveryObjects, "subscribers" | "eventLogs"> {
  readonly rooms: RoomGateway;
  readonly tokens: Tokens;
  readonly inboxes: Inboxes;
  /** Counts a wrong secret from this address. RATE_LIMITED above the limit. */
  limitGuesses(address: string): Promise<void>;
  /** Counts a new guest from this address. RATE_LIMITED above the limit. */
  limitNewGuests(address: string): Promise<void>;
}

/** The context of a deletion, in a request or in the cron trigger. */
type DeletionContext = Pick<OperationContext, "trace"> &
  Pick<
    IdentityContext,
    | "accountId"
    | "db"
    | "newId"
    | "now"
    | "log"
    | "defer"
    | "commit"
    | "relayEvents"
    | "rooms"
    | "subscribers"
    | "eventLogs"
  >;

const conflict = (message: string) => new AppError("Identities", "CONFLICT", message);

/** The constraint that another identity's custom ID violates. */
export const TAKEN_CUSTOM_ID = "unique:identities.account_id, identities.custom_id";

function refuseTaken(error: unknown): never {
  const violated = violatedConstraint(error);
  if (violated === TAKEN_CUSTOM_ID) throw conflict("customId is already used by another identity");
  if (violated === "unique:identity_groups.account_id, identity_groups.custom_id")
    throw conflict("customId is already used by another group");
  throw error;
}

/** The folded name beside a changed name. */
const named = <Changes extends { readonly name?: string | undefined }>(changes: Changes) =>
  changes.name === undefined ? changes : { ...changes, nameFolded: fold(changes.name) };

/** A new identity, which has no token yet. */
export const newIdentityRow = (
  { accountId, newId, now }: Pick<IdentityContext, "accountId" | "newId" | "now">,
  fields: Pick<
    typeof identities.$inferInsert,
    "kind" | "name" | "customId" | "profilePicture" | "email" | "linkId"
  >,
): IdentityRow =>
  rowOf(identities, { ...fields, accountId, id: newId(), nameFolded: fold(fields.name), createdAt: now() });

/** Creates an identity. CONFLICT when another one has the customId, FORBIDDEN beyond the quota. */
export async function createIdentity(
  ctx: IdentityContext,
  input: IdentityCreation,
): Promise<{ identity: Identity }> {
  const row = newIdentityRow(ctx, input);
  const data = { identity: presentIdentity(row) };
  const quota = guardQuota(ctx, "identities");
  const created = IDENTITIES.insertEvent(ctx, newEvent(ctx, "identity.created", row.id));
  const [, events] = await ctx
    .commit([insertIdentity(ctx, row), created, quota.statement], data)
    .catch(quota.refuse)
    .catch(refuseTaken);
  await ctx.relayEvents(ctx, events);
  return data;
}

/** Deletes the identities, their inboxes, groups and links of a deleted organization in chunks; true when none is left. */
export async function purgeIdentities(
  tenant: Tenant,
  inboxes: Inboxes,
  budget: WorkBudget,
): Promise<boolean> {
  const purge = async (purges: (typeof PURGES)[keyof typeof PURGES]): Promise<boolean> => {
    for (const each of purges)
      if (!(await deleteInChunks(tenant.db, (limit) => each(tenant, limit), budget))) return false;
    return true;
  };
  return (
    (await purge(PURGES.beforeIdentities)) &&
    (await purgeWithInboxes(tenant, inboxes, budget)) &&
    (await purge(PURGES.afterIdentities))
  );
}

const PURGED_AT_ONCE = 100;

function purgeWithInboxes(tenant: Tenant, inboxes: Inboxes, budget: WorkBudget): Promise<boolean> {
  return budget.run(async () => {
    const [found] = await tenant.db.run([selectSomeIdentities(tenant, PURGED_AT_ONCE)]);
    const ids = found.map(({ id }) => id);
    const empty = () => callShards(inboxes, tenant.accountId, ids, (shard) => shard.removeAll());
    await empty();
    if (ids.length > 0) await tenant.db.run([deleteIdentities(tenant, ids)]);
    await empty(); // a room may have delivered something while the rows were there
    return ids.length === PURGED_AT_ONCE;
  });
}

/** The event and the change of the given fields, in their order. */
export function planUpdate(ctx: IdentityContext, identityId: string, update: IdentityUpdate) {
  const changes = named(update);
  const event = newEvent(ctx, "identity.updated", identityId);
  return [IDENTITIES.insertEvent(ctx, event, changes), IDENTITIES.update(ctx, identityId, changes)] as const;
}

/** Changes the given fields. NOT_FOUND without the identity. */
export async function updateIdentity(
  ctx: IdentityContext,
  identityId: string,
  update: IdentityUpdate,
): Promise<{ identity: Identity }> {
  const [events, [row]] = await ctx.commit(planUpdate(ctx, identityId, update)).catch(refuseTaken);
  if (row === undefined) throw noIdentity();
  await ctx.relayEvents(ctx, events);
  return { identity: presentIdentity(row) };
}

/** A command of an erasure; an unfinished one stands for further rooms, and is left to the cron trigger. */
interface Erasing {
  readonly id: string;
  readonly roomId: string;
  readonly isUnfinished: 0 | 1;
}

const NOTHING_TO_ERASE: Statement<Erasing> = statement`SELECT 1 WHERE 0`;

/** {@link removeIdentity} of an identity that exists; NOT_FOUND otherwise. */
export async function deleteIdentity(ctx: IdentityContext, identityId: string) {
  const removed = await removeIdentity(ctx, identityId);
  if (removed === null) throw noIdentity();
  return { pending_rooms: removed.pending_rooms };
}

/**
 * Deletes an identity with its memberships and its access, and redacts it in the events. Its users stay in their rooms,
 * and can do nothing. Up to `maxRooms` of its live rooms receive the change before it returns. Null without the identity.
 * `erasure` writes the commands of its erasure in the same batch: they are returned, and left to the caller.
 */
export async function removeIdentity(
  ctx: DeletionContext,
  identityId: string,
  maxRooms?: number,
  erasure: Statement<Erasing> | null = null,
) {
  const subject = ["identity", identityId] as const;
  const [many] = await ctx.db.run([selectManyEntries(ctx, subject, ROWS_AT_ONCE)]);
  // Tokens end before the entries go: without its entry, an identity has the access of its groups and the default.
  if (many.length > 0) {
    const [, closing] = await ctx.db.run([
      endTokensOf(ctx, identityId, ctx.now()),
      tellRoomsOfIdentity(ctx, identityId),
    ]);
    await relayAccessChange(ctx, identityId, closing);
  }
  const earlier = many.length > 0 ? await deleteEntries(ctx, subject) : [];
  const event = newEvent(ctx, "identity.deleted", identityId);
  const [owed, erasing, events, deleted, webhooks] = await ctx.commit([
    tellRoomsOfIdentity(ctx, identityId),
    erasure ?? NOTHING_TO_ERASE,
    IDENTITIES.insertEvent(ctx, event, null, ERASED_IDENTITY),
    IDENTITIES.remove(ctx, identityId),
    deleteWebhooksOf(ctx, identityId),
    ...redactPendingIdentity(ctx, identityId, ERASED_IDENTITY),
  ]);
  await removeWebhooks(ctx, webhooks);
  if (deleted.length === 0) return null;
  return { ...(await relayAccessChange(ctx, identityId, [...earlier, ...owed], events, maxRooms)), erasing };
}

/** Number of entries or members in the deleting batch; chunks go before it if there are more. */
const ROWS_AT_ONCE = 1_000;
const CHUNKS_PER_REQUEST = 100;

/** Deletes the entries of a subject. Returns the commands for their rooms. RATE_LIMITED when some are left: repeat it. */
async function deleteEntries(ctx: DeletionContext, subject: readonly ["group" | "identity", string]) {
  const commands: { readonly id: string; readonly roomId: string }[] = [];
  const isComplete = await new WorkBudget(CHUNKS_PER_REQUEST).run(async () => {
    const [owed, deleted] = await ctx.db.run(deleteSomeEntries(ctx, subject, ROWS_AT_ONCE));
    commands.push(...owed);
    return deleted.length === ROWS_AT_ONCE;
  });
  if (isComplete) return commands;
  const why = "Very many rooms are left that give it access; send the request again to continue";
  throw new AppError("Identities", "RATE_LIMITED", why, 1);
}

/** Relays a change of access to its rooms, then its events. */
export async function relayAccessChange(
  ctx: DeletionContext,
  identityId: string | null,
  owed: readonly { readonly id: string; readonly roomId: string }[],
  events: readonly OutboxEventRow[] = [],
  maxRooms?: number,
) {
  const pending = await relayToRooms(ctx, accessChanged(identityId), owed, maxRooms);
  await ctx.relayEvents(ctx, events);
  return { pending_rooms: pending };
}

export async function createGroup(ctx: IdentityContext, input: GroupCreation): Promise<{ group: Group }> {
  const { accountId } = ctx;
  const own = { accountId, id: ctx.newId(), nameFolded: fold(input.name), createdAt: ctx.now() };
  const row = rowOf(identityGroups, { ...input, ...own });
  const data = { group: presentGroup(row) };
  const quota = guardQuota(ctx, "groups");
  const created = GROUPS.insertEvent(ctx, newEvent(ctx, "group.created", row.id));
  const [, events] = await ctx
    .commit([insertGroup(ctx, row), created, quota.statement], data)
    .catch(quota.refuse)
    .catch(refuseTaken);
  await ctx.relayEvents(ctx, events);
  return data;
}

export async function updateGroup(
  ctx: IdentityContext,
  groupId: string,
  update: GroupUpdate,
): Promise<{ group: Group }> {
  const changes = named(update);
  const updated = GROUPS.insertEvent(ctx, newEvent(ctx, "group.updated", groupId), changes);
  const [events, [row]] = await ctx
    .commit([updated, GROUPS.update(ctx, groupId, changes)])
    .catch(refuseTaken);
  if (row === undefined) throw noGroup();
  await ctx.relayEvents(ctx, events);
  return { group: presentGroup(row) };
}

/** Deletes a group. Its members stay identities. */
async function removeGroup(ctx: DeletionContext, groupId: string) {
  const subject = ["group", groupId] as const;
  const [manyEntries, manyMembers] = await ctx.db.run([
    selectManyEntries(ctx, subject, ROWS_AT_ONCE),
    selectManyMembers(ctx, groupId, ROWS_AT_ONCE),
  ]);
  const isLarge = manyEntries.length + manyMembers.length > 0;
  const earlier = isLarge ? await deleteEntries(ctx, subject) : [];
  if (isLarge) await deleteInChunks(ctx.db, (limit) => deleteSomeMembers(ctx, groupId, limit));
  const [owed, events, deleted] = await ctx.commit([
    tellRoomsOfGroup(ctx, groupId),
    GROUPS.insertEvent(ctx, newEvent(ctx, "group.deleted", groupId)),
    GROUPS.remove(ctx, groupId),
  ]);
  if (deleted.length === 0) throw noGroup();
  return relayAccessChange(ctx, null, [...earlier, ...owed], events);
}

/** The same, for members whose inboxes may be open. */
export async function deleteGroup(ctx: IdentityContext, groupId: string) {
  const [members] = await ctx.db.run([selectMembersAfter(ctx, groupId, "", RECOUNTED + 1)]);
  try {
    return await removeGroup(ctx, groupId);
  } finally {
    // Runs even if entries are left: the entries that are gone have opened their rooms.
    recountInboxes(
      ctx,
      members.map(({ id }) => id),
    );
  }
}

/** Adds an identity to a group; one that is in it stays. CONFLICT when it is in as many groups as it can. */
export async function addMember(ctx: IdentityContext, groupId: string, identityId: string) {
  const membership = { groupId, identityId };
  const quota = guardQuota(ctx, "group_members", membersAdded(ctx, membership, MAX_GROUPS));
  const [, owed, groups, found, events, , members] = await ctx
    .commit([
      quota.statement,
      tellRoomsOfMember(ctx, identityId, idsOf([groupId])),
      GROUPS.select(ctx, { id: groupId }),
      IDENTITIES.select(ctx, { id: identityId }),
      insertMemberAdded(ctx, newEvent(ctx, "group.updated", groupId), membership, MAX_GROUPS),
      insertMember(ctx, membership, { now: ctx.now(), max: MAX_GROUPS }),
      selectMember(ctx, membership),
    ])
    .catch(quota.refuse);
  if (groups.length === 0) throw noGroup();
  if (found.length === 0) throw noIdentity();
  if (members.length === 0) throw conflict(`An identity can be in at most ${MAX_GROUPS} groups`);
  recountInboxes(ctx, [identityId]);
  return relayAccessChange(ctx, identityId, owed, events);
}

/** Takes an identity out of a group. NOT_FOUND when it is not in it. */
export async function removeMember(ctx: IdentityContext, groupId: string, identityId: string) {
  const membership = { groupId, identityId };
  const [owed, events, removed] = await ctx.commit([
    tellRoomsOfMember(ctx, identityId, idsOf([groupId])),
    insertMemberRemoved(ctx, newEvent(ctx, "group.updated", groupId), membership),
    deleteMember(ctx, membership),
  ]);
  if (removed.length === 0) throw notFound("Identities", "Member");
  recountInboxes(ctx, [identityId]);
  return relayAccessChange(ctx, identityId, owed, events);
}
