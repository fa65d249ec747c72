/** Reads users who join a room, and creates the users of identities that come for the first time. */

import { AppError } from "@atrium/contract/errors.ts";
import { describeExceeded, type QuotaDefaults } from "@atrium/contract/resources/quota.ts";
import { newEvent } from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import { isFenced, PING, type Tenant, violatedConstraint } from "../../platform/d1/d1.ts";
import type { KnownUser } from "../../room/engine/join/join-decision.ts";
import type { Entrant, Joiners, KnownIdentity, RoomService } from "../../room/host/room-service.ts";
import { rightsIn } from "../access/statements.ts";
import { usedOf } from "../quotas/queries.ts";
import { QUOTA_EXCEEDED, type QuotaRow, requireWithinQuota, selectQuotas } from "../quotas/statements.ts";
import { refusalInRoom } from "../rooms/limits.ts";
import { selectRoom, updateFirstJoin } from "../rooms/statements.ts";
import type { RoomRow } from "../rooms/table.ts";
import {
  countCreated,
  type EntrantRow,
  insertEntrantEvents,
  insertEntrants,
  lacksMark,
  markJoining,
  type NewEntrant,
  selectEntrants,
  selectEpochIfCurrent,
} from "./entrant-store.ts";
import { rightsOfUser, selectBearers } from "./statements.ts";
import { type BearerRow, recordOf } from "./table.ts";

interface JoiningContext extends Tenant {
  readonly quotaDefaults: QuotaDefaults;
  now(): number;
  newId(): string;
  /** Gives committed events to their subscribers. Never rejects. */
  relayEvents(rows: readonly OutboxEventRow[]): Promise<void>;
}

interface Joining {
  readonly userIds: readonly string[];
  readonly entrants: readonly Entrant[];
}

export const knownUser = (row: BearerRow): KnownUser => ({
  record: recordOf(row),
  subject: row,
  rights: rightsOfUser(row),
  isGuest: row.isGuest === 1,
});

/**
 * One round trip to D1, or a second one above the quota `users`: then no user is created. While the organization is being
 * moved, those who can join without a write are read by another one, and the others are postponed.
 */
export async function readJoiners(
  ctx: JoiningContext,
  roomId: string,
  joining: Joining,
  firstJoinAt: number | null,
): Promise<Joiners> {
  try {
    return await readAndWrite(ctx, roomId, joining, firstJoinAt);
  } catch (error) {
    if (!(error instanceof AppError && isFenced(error))) throw error;
    return readOnly(ctx, roomId, joining, error);
  }
}

async function readAndWrite(
  ctx: JoiningContext,
  roomId: string,
  { userIds, entrants }: Joining,
  firstJoinAt: number | null,
): Promise<Joiners> {
  if (entrants.length === 0) return readUsers(ctx, roomId, userIds, firstJoinAt);
  const created = entrants.map((entrant) => ({ ...entrant, userId: ctx.newId(), eventId: ctx.newId() }));
  const readAll = (some: readonly NewEntrant[]) =>
    readEntrants(ctx, roomId, { userIds, entrants, created: some });
  try {
    return await readAll(created);
  } catch (error) {
    if (violatedConstraint(error) !== QUOTA_EXCEEDED) throw error;
    return readAll([]);
  }
}

async function readUsers(
  ctx: JoiningContext,
  roomId: string,
  userIds: readonly string[],
  firstJoinAt: number | null,
): Promise<Joiners> {
  const [[room], users, quotas] = await ctx.db.run([
    selectRoom(ctx, { id: roomId }),
    selectBearers(ctx, roomId, "id", userIds),
    selectQuotas(ctx),
    markJoining(ctx, roomId, userIds, ctx.now()),
    ...(firstJoinAt === null ? [] : [updateFirstJoin(ctx, roomId, firstJoinAt)]),
  ]);
  const others = { identities: new Map(), postponed: new Map() };
  return { room: room ?? null, users: byId(users), ...others, ...usesOf(ctx, room, quotas) };
}

/** Postponed are first joins, and those of identities that no change of access would reach without a mark. */
async function readOnly(
  ctx: JoiningContext,
  roomId: string,
  { userIds, entrants }: Joining,
  moving: AppError,
): Promise<Joiners> {
  const [[room], users, ofIdentities, found, quotas] = await ctx.db.run([
    selectRoom(ctx, { id: roomId }),
    selectBearers(ctx, roomId, "id", userIds),
    selectBearers(
      ctx,
      roomId,
      "identity",
      entrants.map(({ identityId }) => identityId),
    ),
    selectEntrants(ctx, roomId, entrants),
    selectQuotas(ctx),
  ]);
  const identities = identitiesOf(found, ofIdentities);
  const isFirst = room?.firstJoinAt === null;
  const isUnmarked = room !== undefined && lacksMark(room, ctx.now());
  const postponed = [
    ...users.filter(({ identityId }) => isFirst || (isUnmarked && identityId !== null)).map(({ id }) => id),
    ...[...identities]
      .filter(([, { user, rights }]) => (user === null ? rights !== 0 : isFirst || isUnmarked))
      .map(([id]) => id),
  ];
  return {
    room: room ?? null,
    users: byId(users),
    identities,
    postponed: new Map(postponed.map((id) => [id, moving])),
    ...usesOf(ctx, room, quotas),
  };
}

/** Implements {@link RoomService.findEpochIfCurrent}, at a time (epoch ms). */
export async function findEpochIfCurrent(
  tenant: Tenant,
  roomId: string,
  now: number,
): Promise<number | null> {
  const [[row]] = await tenant.db.run([selectEpochIfCurrent(tenant, roomId, now)]);
  return row?.tokenEpoch ?? null;
}

interface Entering extends Joining {
  /** The entrants who become users unless they are. */
  readonly created: readonly NewEntrant[];
}

async function readEntrants(
  ctx: JoiningContext,
  roomId: string,
  { userIds, entrants, created }: Entering,
): Promise<Joiners> {
  const identityIds = entrants.map(({ identityId }) => identityId);
  const [, , , , , [room], users, ofIdentities, found, quotas, events] = await ctx.db.run([
    insertEntrants(ctx, roomId, created, ctx.now()),
    countCreated(ctx, roomId, created),
    created.length === 0 ? PING : requireWithinQuota(ctx, "users", ctx.quotaDefaults.users),
    markJoining(ctx, roomId, null, ctx.now()),
    updateFirstJoin(ctx, roomId, ctx.now()),
    selectRoom(ctx, { id: roomId }),
    selectBearers(ctx, roomId, "id", userIds),
    selectBearers(ctx, roomId, "identity", identityIds),
    selectEntrants(ctx, roomId, entrants),
    selectQuotas(ctx),
    insertEntrantEvents(ctx, newEvent({ ...ctx, trace: null }, "user.created", roomId), created),
  ]);
  // Before the user joins: subscribers receive user.created first.
  await ctx.relayEvents(events);
  return {
    room: room ?? null,
    users: byId(users),
    identities: identitiesOf(found, ofIdentities),
    postponed: new Map(),
    ...usesOf(ctx, room, quotas),
  };
}

function identitiesOf(found: readonly EntrantRow[], users: readonly BearerRow[]): Map<string, KnownIdentity> {
  const usersOf = new Map(users.map((user) => [user.identityId, knownUser(user)]));
  return new Map(
    found.map(({ identityId, access, ...epochs }) => [
      identityId,
      { ...epochs, rights: access === null ? 0 : rightsIn(access), user: usersOf.get(identityId) ?? null },
    ]),
  );
}

const byId = (users: readonly BearerRow[]) => new Map(users.map((user) => [user.id, knownUser(user)]));

const usesOf = (
  { quotaDefaults }: JoiningContext,
  room: RoomRow | undefined,
  quotas: readonly QuotaRow[],
) => ({
  onlineUsers: usedOf(quotas, "online_users", quotaDefaults),
  noPlace:
    (room && refusalInRoom(room, "users", 1)) ??
    new AppError("Accounts", "FORBIDDEN", describeExceeded(usedOf(quotas, "users", quotaDefaults))),
});
