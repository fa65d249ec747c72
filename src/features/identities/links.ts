/** Links of rooms. Guests come with them, without an account of the customer, and end with them. */

import { AppError, combined, notFound } from "@atrium/contract/errors.ts";
import { ERASED_IDENTITY, presentIdentity } from "@atrium/contract/resources/identity.ts";
import type { LinkRedemption, RedeemedLink, RoomLinkCreation } from "@atrium/contract/rest/identities.ts";
import { IDENTITY_TOKEN_SECONDS } from "@atrium/contract/token-seconds.ts";
import { RECOUNTED, recountInboxes } from "../../delivery/inboxes.ts";
import { newEvent } from "../../delivery/outbox/event-store.ts";
import { redactPendingIdentity } from "../../delivery/outbox/outbox-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import { presentScroll } from "../../http/lists.ts";
import { sha256 } from "../../platform/crypto/encoding.ts";
import type { OperationContext, RequestContext } from "../../platform/d1/context.ts";
import {
  type Database,
  isFenced,
  type Page,
  rowOf,
  type Tenant,
  violatedConstraint,
} from "../../platform/d1/d1.ts";
import { deleteInChunks } from "../../platform/d1/expiry.ts";
import { WorkBudget } from "../../platform/flow/work-budget.ts";
import { type IdentityClaims, requireRestored } from "../../platform/token-claims.ts";
import { tellRoomsOfIdentities } from "../access/statements.ts";
import { createApiKey, isApiKey } from "../accounts/api-key.ts";
import { guardQuota } from "../quotas/guard.ts";
import { QUOTA_EXCEEDED } from "../quotas/statements.ts";
import { selectRoom } from "../rooms/statements.ts";
import { type IdentityContext, newIdentityRow, relayAccessChange } from "./commands.ts";
import { isOver, issue, sign } from "./identify.ts";
import {
  admitGuest,
  banGuests,
  countLinks,
  deleteEmptyLink,
  deleteEndedLinks,
  endedGuests,
  endLink,
  type FoundLink,
  idsOf,
  insertGuest,
  insertLink,
  LINK_CLOSED,
  linkPositionOf,
  selectEndedLinks,
  selectGuests,
  selectLinkByHash,
  selectLinks,
} from "./link-store.ts";
import { presentLink } from "./present.ts";
import { deleteIdentities, IDENTITIES } from "./store.ts";
import { type IdentityRow, roomLinks } from "./table.ts";

/** Secret scanners find leaked links by this prefix. */
const PREFIX = "atrium_link_";

const hashOf = (secret: string) => sha256(new TextEncoder().encode(secret));

/** A token is valid for a minute at least, so a link lets no one in during its last one. */
const LEAST_MS = IDENTITY_TOKEN_SECONDS.min * 1_000;

const noRoom = () => notFound("Rooms", "Room");

/** Creates a link, whose secret only this response contains. NOT_FOUND without the room, FORBIDDEN beyond the quota. */
export async function createRoomLink(
  ctx: IdentityContext,
  roomId: string,
  { permissions, expiresAt, maxUses }: RoomLinkCreation,
) {
  const now = ctx.now();
  if (expiresAt !== undefined && expiresAt < now + LEAST_MS)
    throw new AppError("Identities", "VALIDATION_ERROR", "expiresAt: must be at least a minute from now");
  const [[room]] = await ctx.db.run([selectRoom(ctx, { id: roomId })]);
  if (room === undefined) throw noRoom();
  const secret = createApiKey(undefined, PREFIX);
  const row = rowOf(roomLinks, {
    accountId: ctx.accountId,
    id: ctx.newId(),
    roomId,
    secretHash: await hashOf(secret),
    permissions: JSON.stringify(permissions),
    createdAt: now,
    expiresAt,
    maxUses,
  });
  const data = { link: presentLink(row), secret };
  const quota = guardQuota(ctx, "links");
  await ctx
    .commit([insertLink(ctx, row), quota.statement], data)
    .catch(quota.refuse)
    .catch((error: unknown) => {
      throw violatedConstraint(error) === "required:room_links.room_id" ? noRoom() : error;
    });
  return data;
}

/** A page of a room's links that have not ended, newest first. */
export async function listRoomLinks(tenant: Tenant, roomId: string, page: Page, now: number) {
  const [[room], rows, counted] = await tenant.db.run([
    selectRoom(tenant, { id: roomId }),
    selectLinks(tenant, roomId, page, now),
    countLinks(tenant, roomId, page, now),
  ]);
  if (room === undefined) throw noRoom();
  return { links: rows.map(presentLink), ...presentScroll(page, counted, rows, linkPositionOf(page)) };
}

const closed = () =>
  new AppError(
    "Identities",
    "NOT_FOUND",
    "This link is unknown, has ended or is used up, or its room is closed; ask for another link",
  );

const forbidden = (message: string) => new AppError("Identities", "FORBIDDEN", message);

/**
 * Lets a guest in by a link, or returns with another token of the guest whose earlier one is given. NOT_FOUND for a link
 * that lets no one in, RATE_LIMITED for a client that guesses, FORBIDDEN beyond a quota, UNAUTHORIZED for an earlier token
 * that was ended.
 */
export async function redeemLink(
  ctx: IdentityContext,
  { secret, token, ...profile }: LinkRedemption,
): Promise<RedeemedLink> {
  const link = await getOpenLink(ctx, secret);
  if (token !== undefined) return redeemedBy(ctx, link, await getGuest(ctx, link, token));
  await ctx.limitNewGuests(ctx.address);
  return createGuest(ctx, link, profile);
}

/** The token of a guest whose redemption is repeated, or another one when it is over. Null when it was ended since. */
export async function redeemAgain(ctx: IdentityContext, claims: IdentityClaims, secret = "") {
  const link = await getOpenLink(ctx, secret);
  const guest = await findGuest(ctx, link, claims);
  if (guest === null) return null;
  return isOver(ctx, claims) ? redeemedBy(ctx, link, guest) : sign(ctx, claims);
}

async function getOpenLink(ctx: IdentityContext, secret: string): Promise<FoundLink> {
  const link = await findLink(ctx, secret);
  if (link?.isOpen !== 1) {
    if (link === null) await ctx.limitGuesses(ctx.address);
    throw closed();
  }
  requireRestored(link.accountEpoch);
  return link;
}

/** The answer that lets a guest in. */
async function redeemedBy(ctx: IdentityContext, link: FoundLink, guest: IdentityRow): Promise<RedeemedLink> {
  const leftSeconds = link.expiresAt === null ? Infinity : Math.floor((link.expiresAt - ctx.now()) / 1_000);
  const terms = {
    ttl: Math.max(IDENTITY_TOKEN_SECONDS.min, Math.min(IDENTITY_TOKEN_SECONDS.usual, leftSeconds)),
    rooms: [link.roomId],
    permissions: JSON.parse(link.permissions),
  };
  return {
    identity: presentIdentity(guest),
    ...(await issue(ctx, guest, link.accountEpoch, terms)),
    room_id: link.roomId,
  };
}

/** A mistyped secret fails its checksum without a read. */
async function findLink(ctx: IdentityContext, given: string): Promise<FoundLink | null> {
  const secret = given.trim();
  if (!isApiKey(secret, PREFIX)) return null;
  const [[link]] = await ctx.db.run([selectLinkByHash(ctx, await hashOf(secret), ctx.now() + LEAST_MS)]);
  return link ?? null;
}

async function createGuest(
  ctx: IdentityContext,
  link: FoundLink,
  { name, profilePicture }: Pick<LinkRedemption, "name" | "profilePicture">,
): Promise<RedeemedLink> {
  const guest = { kind: "guest", name, profilePicture, linkId: link.id } as const;
  const row = newIdentityRow(ctx, guest);
  const quotas = [guardQuota(ctx, "guests"), guardQuota(ctx, "access_entries")] as const;
  const data = await redeemedBy(ctx, link, row);
  const [, , , events] = await ctx
    .commit(
      [
        insertGuest(ctx, row, ctx.now() + LEAST_MS),
        ...admitGuest(ctx, row.id),
        IDENTITIES.insertEvent(ctx, newEvent(ctx, "identity.created", row.id)),
        quotas[0].statement,
        quotas[1].statement,
      ],
      data,
    )
    .catch((error: unknown) => {
      const violated = violatedConstraint(error);
      if (violated === LINK_CLOSED) throw closed();
      // The message hides which quota of the organization is exceeded.
      if (violated === QUOTA_EXCEEDED)
        throw forbidden("This link has reached its limit of guests; ask for another link");
      throw error;
    });
  await ctx.relayEvents(ctx, events);
  return data;
}

/** The guest of an earlier token. UNAUTHORIZED unless it is of a guest of this link who still has access. */
async function getGuest(ctx: IdentityContext, link: FoundLink, token: string): Promise<IdentityRow> {
  const claims = await ctx.tokens.verifyIdentity(token, ctx.now(), true);
  const guest = claims && (await findGuest(ctx, link, claims));
  if (guest === null)
    throw new AppError(
      "Identities",
      "UNAUTHORIZED",
      "token: it was ended, or is no token of a guest of this link; redeem the link without it to come as a new guest",
    );
  return guest;
}

/** The guest of a token, also of one that is over; null when it was ended. */
async function findGuest(ctx: IdentityContext, link: FoundLink, claims: IdentityClaims) {
  const [[guest]] = await ctx.db.run([IDENTITIES.select(ctx, { id: claims.identityId })]);
  const isCurrent =
    claims.accountId === ctx.accountId &&
    claims.accountEpoch === link.accountEpoch &&
    claims.identityEpoch === guest?.tokenEpoch;
  return isCurrent && guest.linkId === link.id ? guest : null;
}

/** Chunks of guests, and their number within a request; the cron trigger deletes the other guests. */
const GUESTS_AT_ONCE = 25;
const CHUNKS_PER_REQUEST = 4;
const CHUNKS_PER_LINK = 12;
const LINKS_PER_RUN = 240;
/** Chunks of a thousand links without guests. */
const CHUNKS_OF_LINKS = 20;

/**
 * Ends a link. Its guests lose all rights in the room at once, and are deleted after that. NOT_FOUND without
 * the link.
 */
export async function revokeRoomLink(ctx: IdentityContext, roomId: string, linkId: string) {
  const now = ctx.now();
  const guests = endedGuests(ctx, roomId, linkId, now);
  const [ended, owed, , banned] = await ctx.commit([
    endLink(ctx, roomId, linkId, now),
    tellRoomsOfIdentities(ctx, guests),
    banGuests(ctx, roomId, guests),
    selectGuests(ctx, linkId, RECOUNTED + 1),
  ]);
  if (ended.length === 0) throw notFound("Identities", "Link");
  recountInboxes(
    ctx,
    banned.map(({ id }) => id),
    roomId,
  );
  const relayed = await relayAccessChange(ctx, null, owed);
  await removeGuests(ctx, linkId, new WorkBudget(CHUNKS_PER_REQUEST), async (commands, events) => {
    await relayAccessChange(ctx, null, commands, events);
  }).catch((error: unknown) => ctx.log("The guests of a revoked link could not be deleted yet", error));
  return relayed;
}

type Removal = Tenant & Pick<RequestContext, "now" | "newId"> & Pick<OperationContext, "trace">;

/** Events that are not relayed wait in the outbox. */
type Relay = (
  commands: readonly { readonly id: string; readonly roomId: string }[],
  events: readonly OutboxEventRow[],
) => Promise<void>;

/** Deletes the guests of an ended link in chunks, and the link behind the last one. */
const removeGuests = (ctx: Removal, linkId: string, budget: WorkBudget, relay?: Relay): Promise<boolean> =>
  budget.run(async () => {
    const [guests] = await ctx.db.run([selectGuests(ctx, linkId, GUESTS_AT_ONCE)]);
    const ids = guests.map(({ id }) => id);
    const [commands, ...events] = await ctx.db.run([
      tellRoomsOfIdentities(ctx, idsOf(ids)),
      ...ids.map((id) =>
        IDENTITIES.insertEvent(ctx, newEvent(ctx, "identity.deleted", id), null, ERASED_IDENTITY),
      ),
      deleteIdentities(ctx, ids),
      deleteEmptyLink(ctx, linkId),
      ...ids.flatMap((id) => redactPendingIdentity(ctx, id, ERASED_IDENTITY)),
    ]);
    await relay?.(commands, events.flat());
    return ids.length === GUESTS_AT_ONCE;
  });

/**
 * Deletes links that ended by time, with their room, or by an interrupted request: first those without guests, then guests.
 * The access of these ended before. Rejects with the first failure; moving organizations wait.
 */
export async function removeEndedLinks(
  db: Database,
  { now, newId }: Pick<RequestContext, "now" | "newId">,
  budget = new WorkBudget(LINKS_PER_RUN),
): Promise<void> {
  await deleteInChunks(
    db,
    (limit) => deleteEndedLinks(now(), limit),
    new WorkBudget(CHUNKS_OF_LINKS, budget),
  );
  const [links] = await db.run([selectEndedLinks(now(), newId(), LINKS_PER_RUN)]);
  const failures: unknown[] = [];
  for (const { accountId, id } of links) {
    const ctx = { db, accountId, now, newId, trace: null };
    await removeGuests(ctx, id, new WorkBudget(CHUNKS_PER_LINK, budget)).catch((error: unknown) =>
      isFenced(error) ? undefined : failures.push(error),
    );
  }
  if (failures.length > 0) throw combined(failures);
}
