/** Authorizes joins: verifies the token, reads its user with the room in turn, and completes the join. */

import { AppError, notFound } from "@atrium/contract/errors.ts";
import { NO_ACCESS } from "@atrium/contract/no-access.ts";
import { READ, type Rights } from "@atrium/contract/resources/permissions.ts";
import { describeExceeded, type QuotaUse } from "@atrium/contract/resources/quota.ts";
import type { RoomFields } from "@atrium/contract/resources/room.ts";
import type { RoomName } from "@atrium/contract/resources/room-name.ts";
import type { UserRecord } from "@atrium/contract/resources/user.ts";
import { sleep } from "../../platform/flow/concurrency.ts";
import { FairLoader } from "../../platform/flow/fair-queue.ts";
import { limitOf, opensRoom } from "../../platform/narrowing.ts";
import {
  beingRestored,
  ceilingOf,
  type IdentityClaims,
  isTokenOf,
  RESTORING_EPOCH,
  type TokenClaims,
  type TokenEpochs,
} from "../../platform/token-claims.ts";
import {
  JOIN_FAILED,
  JOIN_READS,
  type JoinDecision,
  type JoinRefusal,
  joinRefusal,
  joinRefusedAfterMs,
  joinsHeldMs,
  type KnownUser,
} from "../engine/join/join-decision.ts";
import type { Room } from "../engine/room.ts";
import type { RoomIdentity } from "../storage/storage.ts";
import type { Effect } from "../transport/connection.ts";
import type { Sockets } from "../transport/sockets.ts";
import { ReturningUsers } from "./returning-users.ts";
import { type CurrentTrace, type RoomContext, roomMetrics } from "./room-context.ts";
import type { Entrant, Joiners, KnownIdentity, RoomService } from "./room-service.ts";

const { module, code, message } = beingRestored();
const BEING_RESTORED = joinRefusal(module, code, message);
const INVALID_TOKEN = joinRefusal("Auth", "UNAUTHORIZED", "The token is invalid or has expired", true);
const ANOTHER_ROOM = joinRefusal("Auth", "FORBIDDEN", "The token is for another room", true);
const ROOM_GONE = joinRefusal("Rooms", "NOT_FOUND", "Room not found");
const SHUT_OUT = joinRefusal("Rooms", "FORBIDDEN", NO_ACCESS);
const ROOM_CLOSED = joinRefusal("Rooms", "FORBIDDEN", "The room is closed");
const TOO_MANY_JOINS = joinRefusal(
  "Rooms",
  "RATE_LIMITED",
  "This user has joined too often, or was disconnected for sending too much; wait and retry",
);
const SOCKET_GONE = joinRefusal("Rooms", "BAD_REQUEST", "The socket is closed");

/** A user who was online so lately comes back after a broken connection: no quota refuses that. */
const RETURN_MS = 5 * 60_000;

type EffectOf<Type extends Effect["type"]> = Extract<Effect, { readonly type: Type }>;

interface Authorization {
  readonly id: string;
  readonly token: string;
  /** Whether the user of the valid token may join now. */
  mayJoin(userId: string): boolean;
}

interface Joiner extends Pick<Joiners, "room" | "onlineUsers" | "noPlace"> {
  readonly user: KnownUser | null;
  /** The identity of the token; null for a user's token. */
  readonly identity: KnownIdentity | null;
  readonly postponed: AppError | null;
}

/** The key of a joiner: a user's ID, or the JSON of an entrant. */
const entrantKey = ({ identityId, identityEpoch, accountEpoch }: IdentityClaims): string =>
  JSON.stringify({ identityId, identityEpoch, accountEpoch } satisfies Entrant);
const isEntrant = (key: string): boolean => key.startsWith("{");

interface Admitted extends Pick<Joiners, "onlineUsers"> {
  readonly room: RoomFields;
  readonly user: KnownUser;
}

/** A user who comes back takes no further place in the quota. */
const UNCOUNTED: QuotaUse = { quota: "online_users", used: 0, limit: Number.POSITIVE_INFINITY };

interface Credential {
  /** The most that it allows. */
  readonly ceiling: Rights;
  /** Epoch seconds. */
  readonly exp: number;
  readonly epochs: Required<TokenEpochs>;
  /** The custom names in the token that open the room; null or absent if it names the room's ID. */
  readonly byCustomId?: readonly RoomName[] | null;
}

const refusalBy = ({ module, code, message }: AppError): JoinRefusal => joinRefusal(module, code, message);

/** Whether a user and a room that the room has stored are those of a token that has not ended. */
const isCredentialOf = (
  claims: TokenClaims | IdentityClaims,
  { room, user: { subject } }: Pick<Admitted, "room" | "user">,
): boolean =>
  "identityId" in claims
    ? subject.identityEpoch === claims.identityEpoch &&
      subject.accountTokenEpoch === claims.accountEpoch &&
      opensRoom(claims, room)
    : isTokenOf(claims, subject);

function credentialOf(
  claims: TokenClaims | IdentityClaims,
  { room, user }: Pick<Admitted, "room" | "user">,
): Credential {
  const { exp, accountEpoch: account, identityEpoch: identity } = claims;
  if (!("identityId" in claims)) {
    const epochs = { user: claims.userEpoch, account, identity };
    return { ceiling: ceilingOf(claims), exp, epochs };
  }
  const { rooms } = claims;
  const byCustomId = rooms === undefined || rooms.includes(room.id) ? null : rooms;
  const epochs = { user: user.subject.tokenEpoch, account, identity };
  return { ceiling: limitOf(claims), exp, epochs, byCustomId };
}

/** A person who watches, in the form of a user: only its own socket receives it. */
const watcher = (id: string, { accountId, roomId }: RoomIdentity): UserRecord => ({
  ...{ id, accountId, roomId, name: "Watcher", role: "viewer", createdAt: 0 },
  ...{ profilePicture: null, customId: null, kind: null },
});

const ownerOf = (claims: TokenClaims | IdentityClaims): string =>
  "identityId" in claims ? claims.identityId : claims.userId;

async function tooManyJoins(): Promise<JoinRefusal> {
  await sleep(joinRefusedAfterMs(Math.random()));
  return TOO_MANY_JOINS;
}

/** The parts of the runtime that joins use. */
interface JoinPorts {
  readonly context: RoomContext;
  readonly room: Room;
  readonly service: RoomService;
  readonly sockets: Pick<Sockets, "traceOf">;
  readonly traces: CurrentTrace;
  perform(effects: readonly Effect[]): void;
  /** Closes a socket because of an error. */
  fail(id: string, what: string, error: unknown): void;
}

export class JoinAuthorizer {
  readonly #ports: JoinPorts;
  readonly #joiners = new FairLoader<Joiner>({
    read: (userIds) => this.#readJoiners(userIds),
    ...JOIN_READS,
  });

  /** Users who may come back by what the room has stored; null unless it holds joins. */
  #returning: ReturningUsers | null = null;
  /** The users among them who came back. */
  readonly #returned = new Set<string>();

  constructor(ports: JoinPorts) {
    this.#ports = ports;
  }

  authorize({ id, request }: EffectOf<"authorizeJoin">): void {
    const mayJoin = (userId: string) => this.#ports.room.queue.countJoin(userId);
    const deciding = this.#decide({ id, token: request.token, mayJoin });
    this.#ports.context.keepAlive(
      deciding.then((decision) => {
        if (!decision.approved) roomMetrics.add("joins_refused");
        else if (!decision.watches) roomMetrics.add("joins");
        this.#complete(id, decision);
      }),
    );
  }

  /** A joined socket has sent its next token. */
  refresh({ id, token, requestId }: EffectOf<"authorizeRefresh">): void {
    const { handshake } = this.#ports.room;
    this.#verify(id, token, (decision) => handshake.completeRefresh(id, decision, requestId));
  }

  /** A joined socket has sent a token for documents. */
  openDocuments({ id, token }: EffectOf<"authorizeDocuments">): void {
    const { documentSockets } = this.#ports.room;
    this.#verify(id, token, (decision) => documentSockets.verified(id, token, decision));
  }

  #verify(id: string, token: string, complete: (decision: JoinDecision) => readonly Effect[]): void {
    const completing = this.#decideAsOfNow(id, token).then((decision) => {
      try {
        this.#ports.perform(complete(decision));
      } catch (error) {
        this.#ports.fail(id, "A token of a joined socket could not be used", error);
      }
    });
    this.#ports.context.keepAlive(completing);
  }

  /** A concurrent change over REST may have come too late for this read. */
  async #decideAsOfNow(id: string, token: string): Promise<JoinDecision> {
    const { commands } = this.#ports.room;
    let decision: JoinDecision;
    let revision: number;
    do {
      revision = commands.revision;
      decision = await this.#decide({ id, token, mayJoin: () => true });
    } while (revision !== commands.revision);
    return decision;
  }

  /** Joins wait for a moment, and are then read together, with the users who have come back meanwhile. */
  hold(): void {
    const { context, room } = this.#ports;
    const heldMs = joinsHeldMs(room.ports.graceMs, Math.random());
    room.participants.joinsHeldUntil = context.now() + heldMs;
    const release = this.#joiners.hold();
    this.#returning = new ReturningUsers(this.#ports);
    setTimeout(() => {
      this.#returning = null;
      for (const userId of this.#returned) context.keepAlive(this.#check(userId));
      this.#returned.clear();
      release();
    }, heldMs);
  }

  /** The decision about a user who comes back; null if the room is not certain of an approval. */
  async #decideFromStorage(claims: TokenClaims | IdentityClaims): Promise<JoinDecision | null> {
    const returning = this.#returning;
    const found = (await returning?.find(claims)) ?? null;
    if (found === null || this.#returning !== returning) return null;
    const { room, user } = found;
    if (!isCredentialOf(claims, found)) return null;
    const decision = this.#admit({ room, user, onlineUsers: UNCOUNTED }, credentialOf(claims, found));
    if (!decision.approved) return null;
    this.#returned.add(user.record.id);
    return decision;
  }

  /** Compares a user who has come back with the database. Never rejects: sockets that cannot be checked are closed. */
  async #check(userId: string): Promise<void> {
    const { connections, commands } = this.#ports.room;
    try {
      const joiner = await this.#readAsOfNow(userId, () => connections.hasUser(userId));
      if (joiner === null) return;
      const { room, user } = joiner;
      const isClosed = room?.state === "closed";
      const refusal = room === null ? ROOM_GONE : isClosed ? ROOM_CLOSED : INVALID_TOKEN;
      const stays = room !== null && !isClosed && user !== null;
      this.#ports.perform(stays ? commands.changeAccess([user]) : commands.shutOut(userId, refusal));
    } catch (error) {
      for (const id of connections.idsOf(userId))
        this.#ports.fail(id, "A user who came back could not be checked", error);
    }
  }

  /** A user as the database has it after the latest change that the room knows; null once it is not wanted. */
  async #readAsOfNow(userId: string, isWanted: () => boolean): Promise<Joiner | null> {
    const { commands } = this.#ports.room;
    let joiner: Joiner | null;
    let revision: number;
    do {
      revision = commands.revision;
      joiner = await this.#joiners.load(userId, isWanted);
    } while (revision !== commands.revision);
    return joiner;
  }

  /** Never rejects: an unexpected failure is logged and becomes a refusal. */
  async #decide({ id, token, mayJoin }: Authorization): Promise<JoinDecision> {
    const { context, room, service } = this.#ports;
    try {
      const { accountId, roomId } = context.identity;
      const claims = await service.verifyToken(token, context.now());
      if (claims === null) return await this.#decideWatch({ id, token, mayJoin });
      if (claims.accountId !== accountId || !(await this.#opens(claims, roomId)))
        return (await service.isTokenCurrent(claims)) ? ANOTHER_ROOM : INVALID_TOKEN;
      // Not before: a forged token would spend the joins of the user that it names, or show that they are spent.
      if (!mayJoin(ownerOf(claims))) return await tooManyJoins();
      room.handshake.verified(id);
      const returned = await this.#decideFromStorage(claims);
      if (returned !== null) return returned;
      const key = "identityId" in claims ? entrantKey(claims) : claims.userId;
      const joiner = await this.#joiners.load(key, () => room.isOpen(id));
      if (joiner === null) return SOCKET_GONE;
      const epoch =
        joiner.user?.subject.accountTokenEpoch ??
        joiner.identity?.accountEpoch ??
        (await service.findAccountTokenEpoch(context.identity));
      if (epoch === RESTORING_EPOCH) return BEING_RESTORED;
      return "identityId" in claims ? this.#judgeIdentity(claims, joiner) : this.#judge(claims, joiner);
    } catch (error) {
      if (error instanceof AppError) return refusalBy(error);
      context.report("A join could not be authorized", error);
      return JOIN_FAILED;
    }
  }

  /** The decision about a socket that only watches. It marks no first join, and takes no place in a quota. */
  async #decideWatch({ id, token, mayJoin }: Authorization): Promise<JoinDecision> {
    const { context, room, service } = this.#ports;
    const { accountId, roomId } = context.identity;
    const claims = await service.verifyWatch(token, context.now());
    if (claims === null) return INVALID_TOKEN;
    if (claims.accountId !== accountId || claims.roomId !== roomId) return ANOTHER_ROOM;
    const { userId, accountEpoch, exp } = claims;
    if (!mayJoin(userId)) return await tooManyJoins();
    room.handshake.verified(id);
    const [row, epoch] = await Promise.all([
      service.findRoom(context.identity),
      service.findAccountTokenEpoch(context.identity),
    ]);
    if (epoch === RESTORING_EPOCH) return BEING_RESTORED;
    if (row === null) return ROOM_GONE;
    if (accountEpoch !== epoch) return INVALID_TOKEN;
    if (row.state === "closed") return ROOM_CLOSED;
    return {
      approved: true,
      room: row,
      user: watcher(userId, context.identity),
      ...{ rights: READ, ceiling: READ, watches: true },
      tokenExpiresAt: exp * 1000,
      ...(epoch > 0 && { tokenEpochs: { user: 0, account: epoch } }),
    };
  }

  /**
   * A REST participant, as the database has it after the latest change that the room knows. NOT_FOUND, or FORBIDDEN as
   * for a join.
   */
  async readRestParticipant(userId: string) {
    const { commands } = this.#ports.room;
    const joiner = await this.#readAsOfNow(userId, () => true);
    if (commands.isDeleted || joiner === null || joiner.room === null) throw notFound("Rooms", "Room");
    const { room, user, onlineUsers, postponed } = joiner;
    if (user === null) throw notFound("Users", "User");
    if (postponed !== null) throw postponed;
    const refusal = user.rights === 0 ? SHUT_OUT : this.#refusalOf(room, user.record.id, onlineUsers);
    if (refusal !== null) throw new AppError(refusal.module, refusal.code, refusal.message);
    return { room, user: user.record };
  }

  /** The reason that keeps a user out now; null for none. */
  #refusalOf(room: RoomFields, userId: string, online: QuotaUse): JoinRefusal | null {
    if (room.state === "closed") return ROOM_CLOSED;
    if (online.used >= online.limit && !this.#wasOnlineLately(userId))
      return joinRefusal("Accounts", "FORBIDDEN", describeExceeded(online));
    return null;
  }

  #judge(claims: TokenClaims, { room, user, onlineUsers, postponed }: Joiner): JoinDecision {
    if (room === null) return ROOM_GONE;
    if (user === null || !isTokenOf(claims, user.subject)) return INVALID_TOKEN;
    if (postponed !== null) return refusalBy(postponed);
    return this.#admit({ room, user, onlineUsers }, credentialOf(claims, { room, user }));
  }

  #judgeIdentity(claims: IdentityClaims, joiner: Joiner): JoinDecision {
    const { room, identity, onlineUsers, noPlace, postponed } = joiner;
    const { identityEpoch, accountEpoch } = claims;
    if (identity?.identityEpoch !== identityEpoch || identity.accountEpoch !== accountEpoch)
      return INVALID_TOKEN;
    if (room === null) return ROOM_GONE;
    if (postponed !== null) return refusalBy(postponed);
    if (!opensRoom(claims, room)) return ANOTHER_ROOM; // the room's custom ID has just changed
    const { user } = identity;
    if (user === null) {
      if (room.state === "closed") return ROOM_CLOSED;
      return identity.rights === 0 ? SHUT_OUT : refusalBy(noPlace);
    }
    return this.#admit({ room, user, onlineUsers }, credentialOf(claims, { room, user }));
  }

  #admit(
    { room, user, onlineUsers }: Admitted,
    { ceiling, exp, epochs, byCustomId }: Credential,
  ): JoinDecision {
    if (user.rights === 0) return SHUT_OUT;
    const refusal = this.#refusalOf(room, user.record.id, onlineUsers);
    if (refusal !== null) return refusal;
    const { user: userEpoch, account, identity } = epochs;
    const { identityId } = user.subject;
    return {
      approved: true,
      room,
      user: user.record,
      rights: user.rights,
      ceiling,
      ...(identityId !== null && { identityId }),
      ...(user.isGuest && { isGuest: true }),
      ...(byCustomId && { byCustomId }),
      tokenExpiresAt: exp * 1000,
      ...((userEpoch > 0 || account > 0 || identity > 0) && {
        tokenEpochs: { user: userEpoch, account, ...(identity > 0 && { identity }) },
      }),
    };
  }

  /** True when the token is for this room. A name of rooms may be a custom ID, which the database knows. */
  async #opens(claims: TokenClaims | IdentityClaims, roomId: string): Promise<boolean> {
    if (!("identityId" in claims)) return claims.roomId === roomId;
    if (claims.rooms === undefined || claims.rooms.includes(roomId)) return true;
    const { service, context } = this.#ports;
    const room = await service.findRoom(context.identity);
    return room !== null && opensRoom(claims, { id: roomId, customId: room.customId });
  }

  #wasOnlineLately(userId: string): boolean {
    const { context, room } = this.#ports;
    return room.sessions.wasOnlineSince(userId, context.now() - RETURN_MS);
  }

  /** Reads users who join at the same time, with their room, in one round trip. */
  async #readJoiners(keys: readonly string[]): Promise<(key: string) => Joiner> {
    const { context, room, service } = this.#ports;
    const { revision } = room.commands;
    // Marks a room that no one has joined before: from then on, changes over REST are relayed to it.
    const firstJoinAt = room.sessions.record === null ? context.now() : null;
    const joining = {
      userIds: keys.filter((key) => !isEntrant(key)),
      entrants: keys.filter(isEntrant).map((key) => JSON.parse(key) as Entrant),
    };
    const { users, identities, postponed, ...joiner } = await service.readJoiners(
      context.identity,
      joining,
      firstJoinAt,
      (work) => context.keepAlive(work),
    );
    if (joiner.room !== null && revision === room.commands.revision) room.commands.recordRow(joiner.room);
    return (key) => {
      const id = isEntrant(key) ? (JSON.parse(key) as Entrant).identityId : key;
      const found = { ...joiner, postponed: postponed.get(id) ?? null };
      if (!isEntrant(key)) return { ...found, user: users.get(key) ?? null, identity: null };
      const identity = identities.get(id) ?? null;
      return { ...found, user: identity?.user ?? null, identity };
    };
  }

  #complete(id: string, decision: JoinDecision): void {
    const { context, room, sockets, traces } = this.#ports;
    try {
      const trace = sockets.traceOf(id);
      this.#ports.perform(traces.during(trace, () => room.messages.completeJoin(id, decision)));
    } catch (error) {
      context.report("A join could not be completed", error);
      if (decision !== JOIN_FAILED) this.#complete(id, JOIN_FAILED);
      this.#ports.fail(id, "A joining socket was closed", error);
    }
  }
}
