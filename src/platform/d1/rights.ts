/** The one place that compares a caller with the right that an operation needs. */
import { AppError, type Module } from "@atrium/contract/errors.ts";
import {
  isOfRooms,
  ORGANIZATION_SUBJECT,
  onlyRead,
  type Right,
  refusalOf,
  type Subject,
} from "@atrium/contract/resources/permissions.ts";
import type { Actor, OperationContext } from "./context.ts";

/**
 * The right to call an endpoint: a right in a room, which users have too; the organization, its owner, or an
 * identity; the signature of a workflow's request; any credential; or none.
 */
export type EndpointRight = Right | "owner" | "identity" | "signed" | "credential" | "public";

type Caller = Pick<OperationContext, "actor">;

const forbidden = (why: string) => new AppError("Auth", "FORBIDDEN", why);

/** A caller in the room of its request. Outside of rooms, one has at most the rights that its credential leaves. */
function subjectOf(actor: OperationContext["actor"]): Subject {
  if (actor.type === "user") return { ...actor, isOrganization: false };
  const narrowed = actor.type === "key" ? actor.narrowed : actor.type === "identity" ? actor : undefined;
  if (narrowed === undefined) return ORGANIZATION_SUBJECT;
  const { rights } = narrowed;
  return { isOrganization: false, rights, readsOnly: onlyRead(rights) };
}

/** True for a caller with all rights of its organization, except those of owners alone. */
export const isOrganization = ({ actor }: Caller): boolean => subjectOf(actor).isOrganization;

/** An identity, or an API key that names rooms, whose request names no room. */
export type Outsider = Extract<Actor, { readonly type: "identity" | "key" }>;

export const isOutside = (actor: OperationContext["actor"]): actor is Outsider =>
  actor.type === "identity" ||
  (actor.type === "key" && actor.narrowed?.rooms !== undefined && actor.roomId === undefined);

/** The refusal of a caller who has the right in no room; null for one who may have it. */
export function refusalTo({ actor }: Caller, right: EndpointRight, module: Module = "Auth"): AppError | null {
  if (right === "public") return null;
  if (actor.type === "anyone") return right === "signed" ? null : forbidden("A credential is required");
  if (right === "credential") return null;
  if (right === "identity")
    return actor.type === "identity" ? null : forbidden("Only an identity's token can call this endpoint");
  if (right === "owner" && actor.type === "person" && actor.role !== "owner")
    return forbidden("Only owners of the organization can do this; ask one of them");
  const needed = right === "owner" || right === "signed" ? "organization" : right;
  const refusal = refusalOf(needed, subjectOf(actor), module);
  return refusal !== null && needed === "organization" && actor.type === "key"
    ? forbidden("A narrowed API key may not do this; use one without `permissions` and `rooms`")
    : refusal;
}

/** FORBIDDEN for a caller who lacks the right, in the room of the request if it names one. */
export function requireRight(
  caller: Caller,
  right: EndpointRight,
  roomId: string | null = null,
  module: Module = "Auth",
): void {
  if (roomId !== null) requireRoom(caller, roomId);
  const refusal = refusalTo(caller, right, module);
  if (refusal !== null) throw refusal;
  if (isOutside(caller.actor) && isOfRooms(right)) {
    const credential = caller.actor.type === "key" ? "an API key for certain rooms" : "an identity's token";
    throw forbidden(`With ${credential}, name the room: pass roomId, over REST as ?roomId= of the URL`);
  }
}

const OF_ONE_ROOM = {
  user: "A user's token gives access to the user's own room only",
  key: "An API key for certain rooms can access the room that the address names only",
  workflow: "A workflow's run can access the room of its event only",
};

/** FORBIDDEN for a caller who belongs to another room. An organization may access all of its rooms. */
export function requireRoom({ actor }: Caller, roomId: string): void {
  if (!("roomId" in actor) || actor.roomId === roomId) return;
  throw forbidden(OF_ONE_ROOM[actor.type]);
}

/** The name of a user's own ID in requests with its token. */
const SELF = "me";

/** The ID of a user whom a request names: `me` is the caller's own. */
export const idOf = ({ actor }: Caller, userId: string): string =>
  actor.type === "user" && userId === SELF ? actor.userId : userId;

/** The user for whom a request is made, as {@link idOf}. FORBIDDEN for another one, by a user. */
export function userOf({ actor }: Caller, userId: string): string {
  if (actor.type !== "user" && userId === SELF)
    throw new AppError("Auth", "VALIDATION_ERROR", "userId: this credential is no user's; send a user's ID");
  if (actor.type !== "user") return userId;
  if (![SELF, actor.userId, actor.identityId].includes(userId))
    throw forbidden("A user's token acts for its own user alone: send `me`");
  return actor.userId;
}

/** A user who may have lost its rights since it was authenticated; undefined for others. */
export const writerOf = ({ actor }: Caller) =>
  actor.type === "user"
    ? { userId: actor.userId, identityEpoch: actor.decided.identityEpoch, isGuest: actor.isGuest }
    : undefined;
