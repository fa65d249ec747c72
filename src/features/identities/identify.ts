/** Tokens of identities: one opens each room as far as its identity has access there. */

import { AppError } from "@atrium/contract/errors.ts";
import { presentIdentity } from "@atrium/contract/resources/identity.ts";
import type { RoomName } from "@atrium/contract/resources/room-name.ts";
import type { Identification, IdentityTokenCreation } from "@atrium/contract/rest/identities.ts";
import { byteLength, fold } from "@atrium/contract/text.ts";
import { presentTime } from "@atrium/contract/time.ts";
import { recountInboxes } from "../../delivery/inboxes.ts";
import { newEvent } from "../../delivery/outbox/event-store.ts";
import { PING, type Statement, statement, violatedConstraint } from "../../platform/d1/d1.ts";
import { idsIn, roomNamesOf } from "../../platform/narrowing.ts";
import { type IdentityClaims, requireRestored } from "../../platform/token-claims.ts";
import { tellRoomsOfIdentity, tellRoomsOfMember } from "../access/statements.ts";
import { guardQuota } from "../quotas/guard.ts";
import { selectRoomsById } from "../rooms/statements.ts";
import { MEMBER_TOKEN_SECONDS } from "../users/queries.ts";
import { IDENTITY_GONE, requireIdentity, selectAccountTokenEpoch } from "../users/statements.ts";
import { type IdentityContext, relayAccessChange, TAKEN_CUSTOM_ID } from "./commands.ts";
import {
  differingGroups,
  insertGroupEvent,
  selectGroupIds,
  selectGroupsByKeys,
  setGroups,
} from "./group-store.ts";
import { idsOf } from "./link-store.ts";
import { noIdentity } from "./queries.ts";
import { endTokensOf, IDENTITIES, insertIdentity } from "./store.ts";
import type { IdentityRow } from "./table.ts";

const invalid = (message: string) => new AppError("Identities", "VALIDATION_ERROR", message);

/**
 * Creates or updates the identity of a custom ID, and returns a token for it: one round trip when nothing changes, else
 * two, and again when another request creates or deletes it at the same time. VALIDATION_ERROR for an unknown group, FORBIDDEN beyond a quota; then nothing has changed.
 */
export async function identify(
  ctx: IdentityContext,
  { ttl, rooms, permissions, ...profile }: Identification,
) {
  requireIssuable(ctx, { ttl, rooms, permissions });
  for (let attempts = 1; ; attempts += 1) {
    const known = await readKnown(ctx, profile, rooms);
    try {
      const { identity, pending_rooms } = await save(ctx, profile, known);
      const token = await issue(ctx, identity, known.accountEpoch, { ttl, rooms: known.rooms, permissions });
      return { identity: presentIdentity(identity), ...token, pending_rooms };
    } catch (error) {
      // Another request has just created or deleted it.
      const isOvertaken = OVERTAKEN.has(violatedConstraint(error) ?? "");
      if (!isOvertaken || attempts === MAX_ATTEMPTS) throw error;
    }
  }
}

const OVERTAKEN: ReadonlySet<string> = new Set([TAKEN_CUSTOM_ID, IDENTITY_GONE]);
const MAX_ATTEMPTS = 10;

const NO_ROW: Statement<IdentityRow> = statement`SELECT 1 WHERE FALSE`;

type Profile = Omit<Identification, keyof IdentityTokenCreation>;

interface Known {
  readonly identity: IdentityRow | null;
  readonly accountEpoch: number;
  /** The groups to be in; null to leave them as they are. */
  readonly groupIds: readonly string[] | null;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The rooms of the token. Absent for all. */
  readonly rooms: RoomName[] | undefined;
}

async function readKnown(
  ctx: IdentityContext,
  { customId, groups }: Profile,
  rooms: Identification["rooms"],
): Promise<Known> {
  const [[identity], found, members, [account], named] = await ctx.db.run([
    IDENTITIES.select(ctx, { customId }),
    selectGroupsByKeys(ctx, groups ?? []),
    selectGroupIds(ctx, customId),
    selectAccountTokenEpoch(ctx),
    selectRoomsById(ctx, idsIn(rooms ?? [])),
  ]);
  const accountEpoch = account?.tokenEpoch ?? 0;
  requireRestored(accountEpoch);
  const groupIds = groups?.map((key) => {
    const group = found.find((each) => each.id === key) ?? found.find((each) => each.customId === key);
    if (group === undefined) throw invalid(`groups: there is no group with the ID or customId ${key}`);
    return group.id;
  });
  const current = new Set(members.map(({ groupId }) => groupId));
  const wanted = new Set(groupIds ?? current);
  return {
    identity: identity ?? null,
    accountEpoch,
    groupIds: groupIds ?? null,
    added: [...wanted].filter((id) => !current.has(id)),
    removed: [...current].filter((id) => !wanted.has(id)),
    rooms: roomNamesOf(rooms, named),
  };
}

/** Writes the changed fields. */
async function save(ctx: IdentityContext, profile: Profile, known: Known) {
  const { identity, groupIds, added, removed } = known;
  const { customId, name, profilePicture, email } = profile;
  const row: IdentityRow = {
    accountId: ctx.accountId,
    id: identity?.id ?? ctx.newId(),
    kind: identity?.kind ?? "person",
    name,
    nameFolded: fold(name),
    customId,
    profilePicture: profilePicture === undefined ? (identity?.profilePicture ?? null) : profilePicture,
    email: email === undefined ? (identity?.email ?? null) : email,
    createdAt: identity?.createdAt ?? ctx.now(),
    tokenEpoch: identity?.tokenEpoch ?? 0,
    linkId: identity?.linkId ?? null,
  };
  const isSame =
    row.name === identity?.name &&
    row.profilePicture === identity.profilePicture &&
    row.email === identity.email;
  if (isSame && added.length + removed.length === 0) return { identity: row, pending_rooms: 0 };
  const quotas = [guardQuota(ctx, "identities"), guardQuota(ctx, "group_members")] as const;
  const changes = { name, nameFolded: row.nameFolded, profilePicture: row.profilePicture, email: row.email };
  const isNew = identity === null;
  const event = newEvent(ctx, isNew ? "identity.created" : "identity.updated", row.id);
  const [, events, [updated = row], owed, , , , , ...ofGroups] = await ctx
    .commit(
      [
        isNew ? insertIdentity(ctx, row) : requireIdentity(ctx, row.id),
        IDENTITIES.insertEvent(ctx, event, isNew ? null : changes),
        isNew ? NO_ROW : IDENTITIES.update(ctx, row.id, changes),
        tellRoomsOfMember(
          ctx,
          row.id,
          groupIds === null ? idsOf([]) : differingGroups(ctx, row.id, groupIds),
        ),
        ...(groupIds === null ? ([PING, PING] as const) : setGroups(ctx, row.id, groupIds, ctx.now())),
        isNew ? quotas[0].statement : PING,
        added.length > 0 ? quotas[1].statement : PING,
        ...[...added, ...removed].map((groupId) =>
          insertGroupEvent(ctx, newEvent(ctx, "group.updated", groupId), { groupId, identityId: row.id }),
        ),
      ],
      undefined,
      row.id,
    )
    .catch(quotas[0].refuse)
    .catch(quotas[1].refuse);
  if (!isNew && added.length + removed.length > 0) recountInboxes(ctx, [row.id]);
  return {
    identity: updated,
    ...(await relayAccessChange(ctx, row.id, owed, [...events, ...ofGroups.flat()])),
  };
}

/** A token of an identity. NOT_FOUND without it. */
export async function createIdentityToken(
  ctx: IdentityContext,
  identityId: string,
  terms: IdentityTokenCreation,
) {
  requireIssuable(ctx, terms);
  const [[identity], [account], named] = await ctx.db.run([
    IDENTITIES.select(ctx, { id: identityId }),
    selectAccountTokenEpoch(ctx),
    selectRoomsById(ctx, idsIn(terms.rooms ?? [])),
  ]);
  if (identity === undefined) throw noIdentity();
  requireRestored(account?.tokenEpoch);
  return issue(ctx, identity, account?.tokenEpoch ?? 0, { ...terms, rooms: roomNamesOf(terms.rooms, named) });
}

/** A token on the terms of an earlier one, for the same time unless that is over. Null without the identity. */
export async function issueAgain(ctx: IdentityContext, claims: IdentityClaims) {
  const [[identity], [account]] = await ctx.db.run([
    IDENTITIES.select(ctx, { id: claims.identityId }),
    selectAccountTokenEpoch(ctx),
  ]);
  const accountEpoch = account?.tokenEpoch ?? 0;
  requireRestored(accountEpoch);
  if (identity === undefined) return null;
  const { iat, exp, rooms, permissions } = claims;
  if (isOver(ctx, claims)) return issue(ctx, identity, accountEpoch, { ttl: exp - iat, rooms, permissions });
  return sign(ctx, { ...claims, accountEpoch, identityEpoch: identity.tokenEpoch });
}

export const isOver = ({ now }: IdentityContext, { exp }: IdentityClaims): boolean => exp * 1000 <= now();

/** Ends the tokens of an identity and of its users in all rooms, and closes the sockets that joined with them. */
export async function endIdentityTokens(ctx: IdentityContext, identityId: string) {
  const [ended, owed] = await ctx.commit([
    endTokensOf(ctx, identityId, ctx.now()),
    tellRoomsOfIdentity(ctx, identityId),
  ]);
  if (ended.length === 0) throw noIdentity();
  // The call may get lost in a crash: the inbox finds the new epoch before it sends anything.
  await ctx
    .inboxes(ctx.accountId, identityId)
    .closeSockets([identityId])
    .catch((error: unknown) => ctx.log("The sockets of an inbox could not be closed yet", error));
  return relayAccessChange(ctx, identityId, owed);
}

/** A token has up to 2,048 characters; a longer one would be refused everywhere. */
const MAX_NARROWING_BYTES = 1_200;

function requireIssuable(
  { actor }: IdentityContext,
  { ttl, rooms, permissions }: IdentityTokenCreation,
): void {
  if (byteLength(JSON.stringify([roomNamesOf(rooms, []), permissions])) > MAX_NARROWING_BYTES)
    throw invalid("rooms: too long for one token; name fewer rooms, or the beginning of their custom IDs");
  if (actor.type === "person" && ttl > MEMBER_TOKEN_SECONDS)
    throw invalid(`ttl: must be at most ${MEMBER_TOKEN_SECONDS} in the dashboard; use an API key for more`);
}

interface Terms extends Pick<IdentityTokenCreation, "ttl" | "permissions"> {
  readonly rooms: RoomName[] | undefined;
}

/** Signs a token of an identity on these terms. */
export async function issue(
  ctx: IdentityContext,
  { id: identityId, accountId, createdAt, tokenEpoch: identityEpoch }: IdentityRow,
  accountEpoch: number,
  { ttl, rooms, permissions }: Terms,
) {
  const iat = Math.floor(Math.max(ctx.now(), createdAt) / 1000);
  const claims: IdentityClaims = {
    ...{ accountId, identityId, accountEpoch, identityEpoch, iat, exp: iat + ttl },
    ...(rooms && { rooms }),
    ...(permissions && { permissions }),
  };
  return sign(ctx, claims);
}

/** The very token with these claims. */
export const sign = async ({ tokens }: IdentityContext, claims: IdentityClaims) => ({
  token: await tokens.signIdentity(claims),
  expires_at: presentTime(claims.exp * 1000),
});
