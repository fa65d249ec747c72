/** The inbox of an identity, for the organization and for the identity itself. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { defaultsFor } from "@atrium/contract/resources/notification-settings.ts";
import { ALL_RIGHTS, onlyRead, refusalOf } from "@atrium/contract/resources/permissions.ts";
import { presentSubscription } from "@atrium/contract/resources/push-subscription.ts";
import { presentSending } from "@atrium/contract/resources/sent-notification.ts";
import type { InboxRead, InboxTrigger } from "@atrium/contract/rest/inbox.ts";
import type { Inboxes } from "../../delivery/inboxes.ts";
import { encodePosition } from "../../http/lists.ts";
import { isUpgrade } from "../../http/upgrades.ts";
import { derivedId } from "../../platform/crypto/encoding.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { Stub } from "../../platform/objects/rpc.ts";
import { checkRoomAccess } from "../access/queries.ts";
import { getIdentity, noIdentity } from "../identities/queries.ts";
import type { InboxQuery } from "./list-query.ts";
import type { InboxCaller } from "./recipients/access.ts";
import { defaultsIn, type IdentityEpochs, selectDefaults, selectReachability } from "./recipients/store.ts";
import type { InboxObjectBase } from "./shard/inbox-object.ts";

export interface InboxContext extends RequestContext {
  readonly inboxes: Inboxes<InboxObjectBase>;
  connectInbox(accountId: string, identityId: string, request: Request): Promise<Response>;
}

/** The shard of an inbox, and how much of the inbox the caller sees. */
export interface OpenInbox {
  readonly inbox: Stub<InboxObjectBase>;
  readonly caller: InboxCaller;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The inbox of an identity, for the organization. NOT_FOUND for what can be no identity. */
export function inboxOf({ accountId, inboxes }: InboxContext, identityId: string): OpenInbox {
  if (!UUID.test(identityId)) throw noIdentity();
  return { inbox: inboxes(accountId, identityId), caller: { identityId } };
}

const forbidden = (message: string) => new AppError("Auth", "FORBIDDEN", message);

function callerOf({ actor }: InboxContext) {
  if (actor.type !== "identity") throw forbidden("Only an identity has an inbox");
  return actor;
}

/** The inbox of the calling identity, as far as its token goes: what it reads it may mark as read. */
export function ownInbox(ctx: InboxContext): OpenInbox {
  const { identityId, rooms } = callerOf(ctx);
  const narrowing = rooms === undefined ? {} : { rooms: [...rooms] };
  return { inbox: ctx.inboxes(ctx.accountId, identityId), caller: { identityId, ...narrowing } };
}

/** The same, to delete from it. FORBIDDEN for a token that only reads. */
export function ownInboxToChange(ctx: InboxContext): OpenInbox {
  const { rights } = callerOf(ctx);
  const refusal = refusalOf(
    "own:write",
    { isOrganization: false, rights, readsOnly: onlyRead(rights) },
    "Auth",
  );
  if (refusal !== null) throw refusal;
  return ownInbox(ctx);
}

/** The same, for what concerns all rooms and outlives the token. FORBIDDEN for a narrowed one, and for guests. */
export function wholeOwnInbox(ctx: InboxContext): OpenInbox & { readonly epochs: IdentityEpochs } {
  const { isGuest, rooms, rights, epochs } = callerOf(ctx);
  if (isGuest) throw forbidden("Guests have neither mails nor pushes; show them their inbox on your page");
  if (rooms !== undefined || rights !== ALL_RIGHTS)
    throw forbidden(
      "The token is narrowed, and this concerns all rooms; use one without `rooms` and `permissions`",
    );
  return { ...ownInbox(ctx), epochs };
}

const noNotification = () => notFound("Inbox", "Notification");

/** A page of the notifications that are shown now, newest first. NOT_FOUND without the identity. */
export async function listNotifications({ inbox, caller }: OpenInbox, query: InboxQuery) {
  const { after, ...filter } = query;
  const position = after === undefined ? null : { notifiedAt: Number(after.key), id: after.id };
  const page = await inbox.list(caller, { ...filter, after: position });
  if (page === null) throw noIdentity();
  const { notifications, next } = page;
  const cursor = next && encodePosition({ key: next.notifiedAt, id: next.id, offset: 0, total: 0 });
  return { notifications: [...notifications], cursor };
}

const EXPORTED_AT_ONCE = 100;

/** A page of all that is in an inbox, on the first one with what is beside its notifications. `next` is null after the last. */
export async function exportInbox(
  ctx: Pick<InboxContext, "accountId" | "inboxes">,
  identityId: string,
  after: string,
) {
  const [notifiedAt = "", id = ""] = after.split(" ");
  const { notifications, next, settings, sendings, pushTargets } = await ctx
    .inboxes(ctx.accountId, identityId)
    .export(identityId, {
      limit: EXPORTED_AT_ONCE,
      after: after === "" ? null : { notifiedAt: Number(notifiedAt), id },
    });
  const beside = {
    settings,
    sent: sendings.map(presentSending),
    subscriptions: pushTargets.map(presentSubscription),
  };
  return {
    notifications,
    next: next && `${next.notifiedAt} ${next.id}`,
    beside: after === "" ? beside : null,
  };
}

/** The number of unread notifications that are shown now. NOT_FOUND without the identity. */
export async function countNotifications({ inbox, caller }: OpenInbox) {
  const unread = await inbox.count(caller);
  if (unread === null) throw noIdentity();
  return { unread };
}

/** Marks one notification or all of them. Returns how many are unread after it. NOT_FOUND without what is marked. */
export async function markNotifications({ inbox, caller }: OpenInbox, { notificationId, upTo }: InboxRead) {
  const unread =
    notificationId === undefined
      ? await inbox.markAll(caller)
      : await inbox.markItem(caller, notificationId, upTo ?? null);
  if (unread === null) throw notificationId === undefined ? noIdentity() : noNotification();
  return { unread };
}

/** NOT_FOUND without the notification. */
export async function deleteNotification({ inbox, caller }: OpenInbox, notificationId: string) {
  if (!(await inbox.deleteItem(caller, notificationId))) throw noNotification();
  return {};
}

/** NOT_FOUND without the identity. */
export async function deleteNotifications({ inbox, caller }: OpenInbox) {
  if (!(await inbox.deleteAll(caller))) throw noIdentity();
  return {};
}

/**
 * Delivers a notification of the organization's own kind, with an Idempotency-Key once. `delivered` is false when the
 * identity may not enter the room. NOT_FOUND without the identity or the room.
 */
export async function triggerNotification(
  ctx: InboxContext,
  { identityId, customId, kind, subjectId, roomId, data = {} }: InboxTrigger,
): Promise<{ delivered: boolean }> {
  const { accountId, idempotencyKey } = ctx;
  const id = await findId(ctx, { identityId, customId, roomId });
  if (id === null) return { delivered: false };
  const activity = {
    id: idempotencyKey === null ? ctx.newId() : await derivedId([accountId, id, kind, idempotencyKey]),
    ...{ kind: kind as `$${string}`, subjectId, roomId: roomId ?? null, seq: null },
    ...{ at: ctx.now(), by: null, data },
  };
  const [[identity], [defaults]] = await ctx.db.run([selectReachability(ctx, id), selectDefaults(ctx)]);
  if (identity === undefined) throw noIdentity();
  await ctx.inboxes(accountId, id).deliver([id], [activity], defaultsFor(identity, defaultsIn(defaults)));
  return { delivered: true };
}

/** Upgrades a request to a socket of the inbox. NOT_FOUND without the identity. */
export async function connectTo(ctx: InboxContext, request: Request): Promise<Response> {
  const id = new URL(request.url).searchParams.get("identity") ?? "";
  const { identity } = await getIdentity(ctx, { id });
  if (isUpgrade(request)) return ctx.connectInbox(ctx.accountId, identity.id, request);
  throw new AppError(
    "Inbox",
    "BAD_REQUEST",
    "This address accepts only WebSocket upgrades: send `Upgrade: websocket`",
  );
}

/** The ID of the identity; null if it may not enter the room. */
async function findId(
  ctx: InboxContext,
  { identityId, customId, roomId }: Pick<InboxTrigger, "identityId" | "customId" | "roomId">,
): Promise<string | null> {
  const key = customId === undefined ? { id: identityId ?? "" } : { customId };
  if (roomId === undefined || customId !== undefined) {
    const { identity } = await getIdentity(ctx, key);
    if (roomId === undefined) return identity.id;
    return findId(ctx, { identityId: identity.id, roomId });
  }
  const { permissions } = await checkRoomAccess(ctx, roomId, identityId ?? "");
  return permissions.length === 0 ? null : (identityId ?? null);
}
