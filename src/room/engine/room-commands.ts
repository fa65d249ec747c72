/** Applies the changes of REST in a live room: commands that close, delete or update the room and its users. */

import { NO_ACCESS } from "@atrium/contract/no-access.ts";
import { mayWrite, permissionsOf, type Rights, roleOf } from "@atrium/contract/resources/permissions.ts";
import { presentRoom, type RoomFields } from "@atrium/contract/resources/room.ts";
import { presentUser } from "@atrium/contract/resources/user.ts";
import { opensRoom } from "../../platform/narrowing.ts";
import type { TokenEpochs } from "../../platform/token-claims.ts";
import type { SuggestionRequests } from "../documents/sync/suggestion-requests.ts";
import { CLOSE } from "../protocol/protocol.ts";
import type { Effect } from "../transport/connection.ts";
import { isOfDocuments, send } from "../transport/connections.ts";
import type { RoomPorts } from "../transport/room-ports.ts";
import type { RoomCommand } from "../types/room-object.ts";
import type { RoomContent } from "./content/content.ts";
import { type KnownUser, standingOf } from "./join/join-decision.ts";
import type { JoinHandshake } from "./join/join-handshake.ts";
import type { CloseReason, Participants } from "./participants/participants.ts";

const USER_DELETED: CloseReason = {
  code: "UNAUTHORIZED",
  message: "The user was deleted",
  authFailed: true,
};

const TOKENS_ENDED: CloseReason = {
  code: "UNAUTHORIZED",
  message: "The user's tokens were ended; get a new one",
  authFailed: true,
};

const ANOTHER_ROOM: CloseReason = {
  code: "FORBIDDEN",
  message: "The token is for another room",
  authFailed: true,
};

const SHUT_OUT: CloseReason = { code: "FORBIDDEN", message: NO_ACCESS, authFailed: false };

/** The epochs that are known; absent for those that are not. */
type CurrentEpochs = Pick<TokenEpochs, "account"> & Partial<TokenEpochs>;

/** More of them count as changes that concern all. */
const MAX_CHANGED_USERS = 10_000;

/** A command of many steps: {@link RoomCommandHandler.erase}. */
export type Erasure = Extract<RoomCommand, { readonly type: "user.erased" | "identity.erased" }>;

export const isErasure = (command: RoomCommand): command is Erasure =>
  command.type === "user.erased" || command.type === "identity.erased";

/** The parts of the room that commands change. */
interface CommandParts {
  readonly ports: Pick<RoomPorts, "storage" | "now">;
  readonly participants: Participants;
  readonly content: RoomContent;
  readonly handshake: JoinHandshake;
  readonly suggestions: Pick<SuggestionRequests, "eraseSome">;
}

export class RoomCommandHandler {
  readonly #room: CommandParts;
  #isDeleted = false;
  #revision = 0;
  /** The latest change that may concern every user, and the later ones that concern one. */
  #revisionOfAll = 0;
  readonly #revisionOfUsers = new Map<string, number>();

  constructor(room: CommandParts) {
    this.#room = room;
  }

  /** True once the room's deletion is known: a later write would bring back an erased room. */
  get isDeleted(): boolean {
    return this.#isDeleted;
  }

  /** Counts the changes: earlier reads of the database may be out of date after one. */
  get revision(): number {
    return this.#revision;
  }

  /** The latest change that may concern a user. */
  revisionOf(userId: string): number {
    return Math.max(this.#revisionOfAll, this.#revisionOfUsers.get(userId) ?? 0);
  }

  /** Counts a change that concerns one user, or perhaps all. */
  #count(userId: string | null): void {
    this.#revision += 1;
    if (userId !== null && this.#revisionOfUsers.size < MAX_CHANGED_USERS) {
      this.#revisionOfUsers.set(userId, this.#revision);
      return;
    }
    this.#revisionOfAll = this.#revision;
    this.#revisionOfUsers.clear();
  }

  recordDeletion(): void {
    this.#count(null);
    this.#isDeleted = true;
  }

  /** The database has this row: its limits hold, and a deleted room without content has been restored. */
  recordRow(row: RoomFields): void {
    this.#room.ports.storage.occupancy.recordLimits(row);
    if (!this.isUsed) this.#isDeleted = false;
  }

  /**
   * Idempotent, and harmless when it is late: the new fields are read from the database, and deletions are final.
   * Throws a {@link PartialFailure} when storage fails.
   */
  apply(command: Exclude<RoomCommand, Erasure>): Effect[] {
    this.#count("userId" in command ? command.userId : null);
    switch (command.type) {
      case "room.closed":
        this.#room.handshake.markStale();
        return [{ type: "refreshRoom", closing: this.#room.participants.connections.ids() }];
      case "room.deleted":
        this.recordDeletion();
        return this.#room.participants.disconnectAll(CLOSE.roomDeleted, "room deleted");
      case "user.deleted":
        this.#room.handshake.markStale();
        return this.#deleteUser(command.userId);
      case "user.created":
        return this.isUsed ? [{ type: "refreshUser", userId: command.userId, event: "userCreated" }] : [];
      case "user.updated":
        this.#room.handshake.markStale();
        return this.isUsed ? [{ type: "refreshUser", userId: command.userId, event: "userUpdated" }] : [];
      case "tokens.ended":
        this.#room.handshake.markStale();
        return [
          ...this.#room.participants.endGracePeriods(command.userId === null ? undefined : [command.userId]),
          { type: "refreshTokens", userId: command.userId },
        ];
      case "access.changed":
        this.#room.handshake.markStale();
        return [{ type: "refreshAccess", identityId: command.identityId }];
      case "room.updated":
        this.#room.handshake.markStale(); // a token may name the room by its custom ID
        return this.isUsed ? [{ type: "refreshRoom", closing: null }] : [];
    }
  }

  /** A room that has never been used logs no changes: no client has missed any. */
  get isUsed(): boolean {
    return this.#room.participants.sessions.record !== null || this.#room.content.changes.lastSeq > 0;
  }

  #deleteUser(userId: string): Effect[] {
    const effects = this.shutOut(userId, USER_DELETED);
    if (!this.isUsed) return effects;
    try {
      this.#room.content.changes.transaction(() => this.#forgetUser(userId));
    } catch (error) {
      throw new PartialFailure(effects, error);
    }
    return [...effects, ...this.#sendChanges()];
  }

  /** Needs a transaction. */
  #forgetUser(userId: string): void {
    this.#room.participants.sessions.deleteUser(userId);
    this.#room.ports.storage.follows.deleteUser(userId);
    this.#room.content.changes.appendOnce("userDeleted", userId, { userId });
  }

  /**
   * The effects of an erasure in steps, between which others in the room are served; the first one removes the
   * user. An identity also disappears from content that others wrote about it before its first join, or without
   * one. Throws when storage fails: the effects so far hold, and the command is applied again from the start.
   */
  *erase(command: Erasure): Generator<readonly Effect[], void> {
    this.#count(command.type === "user.erased" ? command.userId : null);
    this.#room.handshake.markStale();
    const { comments, changes, erased } = this.#room.content;
    const [userId, identityId] = [command.type === "user.erased" ? command.userId : null, command.identityId];
    const ids = [userId, identityId].filter((id) => typeof id === "string");
    const livesOn = command.type === "user.erased" && command.isIdentityErased !== true ? identityId : null;
    for (const id of ids) if (id !== livesOn) erased.add(id);
    if (userId !== null) yield this.shutOut(userId, USER_DELETED);
    for (let after: number | null = 0; after !== null && !this.#isDeleted; ) {
      const from: number = after;
      after = changes.transaction(() => comments.eraseSome(ids, from));
      yield this.#sendChanges();
    }
    for (let some: Effect[] | null = []; some !== null && userId !== null && !this.#isDeleted; ) {
      some = this.#room.suggestions.eraseSome(userId);
      yield some ?? [];
    }
    if (this.#isDeleted) return;
    changes.transaction(() => {
      const { threads, wakes } = this.#room.ports.storage;
      for (const id of ids) {
        threads.deleteUser(id);
        if (id !== livesOn) wakes.deleteIdentity(id); // an agent that lives on goes on in its chain
      }
      if (userId !== null && this.isUsed) {
        this.#forgetUser(userId);
        this.#room.participants.sessions.eraseParticipant(userId);
      }
      if (!this.isUsed) return;
      for (const id of ids) changes.forgetUser(id);
      comments.eraseFromAnswers(ids);
    });
    yield this.#sendChanges();
  }

  /** Completes a `refreshUser` effect: everyone receives the user's current fields, and its sockets have its rights. */
  updateUser(known: KnownUser, event: "userCreated" | "userUpdated"): Effect[] {
    if (this.#isDeleted) return [];
    const { record: user, rights } = known;
    const { sessions } = this.#room.participants;
    const { changes } = this.#room.content;
    const presented = presentUser(user, sessions.findLastSeen([user.id])[user.id]);
    sessions.recordStanding(user.id, standingOf(known)); // a failure after the change would make it again
    changes.transaction(() => {
      sessions.updateUser(user);
      const data = { userId: user.id, user: presented };
      if (event === "userCreated") changes.appendOnce(event, user.id, data);
      else changes.append(event, () => data);
    });
    return [...this.#changeRights(user.id, rights), ...this.#sendChanges()];
  }

  /** Completes a `refreshAccess` effect: applies access anew to these users and their sockets, and closes those without. */
  changeAccess(users: readonly KnownUser[]): Effect[] {
    const { sessions } = this.#room.participants;
    // The standings come first: a failure between two users would lose the effects for the first one.
    for (const user of users) sessions.recordStanding(user.record.id, standingOf(user));
    return users.flatMap(({ record: { id }, subject, rights }) => {
      const ended = this.#endedBy(id, {
        user: subject.tokenEpoch,
        account: subject.accountTokenEpoch,
        identity: subject.identityId === null ? 0 : (subject.identityEpoch ?? Number.POSITIVE_INFINITY),
      });
      return [
        ...this.#room.participants.disconnectFor(ended, TOKENS_ENDED),
        ...(rights === 0 ? this.shutOut(id, SHUT_OUT) : this.#changeRights(id, rights)),
        // A user without a socket, who may show nothing any more, leaves.
        ...(mayWrite(rights, "presence") || this.#room.participants.connections.hasUser(id)
          ? []
          : this.#room.participants.endGracePeriods([id])),
      ];
    });
  }

  /** Closes the user's sockets, and ends its session. */
  shutOut(userId: string, reason: CloseReason): Effect[] {
    const { connections } = this.#room.participants;
    return [
      ...this.#room.participants.disconnectFor(connections.idsOf(userId), reason),
      ...this.#room.participants.endGracePeriods([userId]),
    ];
  }

  /** The user's sockets have its rights from now on, as far as their tokens and their joins allow. */
  #changeRights(userId: string, ofUser: Rights): Effect[] {
    const { connections } = this.#room.participants;
    return connections.idsOf(userId).flatMap((id) => {
      const before = connections.get(id);
      if (before?.phase !== "joined") return [];
      const rights = before.ceiling & ofUser;
      if (rights === before.rights) return [];
      const connection = { ...before, rights };
      connections.update(connection);
      const attach: Effect = { type: "attach", connection };
      if (isOfDocuments(connection)) return [attach];
      const role = roleOf(rights);
      const data = { role, permissions: permissionsOf(rights) };
      return [
        attach,
        send([id], { type: "event", event: "accessChanged", data }),
        ...(role === roleOf(before.rights)
          ? []
          : [send([id], { type: "event", event: "roleChanged", data: { role } })]),
      ];
    });
  }

  /**
   * Completes a `refreshTokens` effect: closes the sockets that joined with a token of earlier epochs, of one user, or
   * of all users if only the organization's epoch is known.
   */
  endTokens(userId: string | null, current: CurrentEpochs): Effect[] {
    return this.#room.participants.disconnectFor(this.#endedBy(userId, current), TOKENS_ENDED);
  }

  /** The sockets, of one user or of all, that joined with a token of earlier epochs. */
  #endedBy(userId: string | null, current: CurrentEpochs): string[] {
    const ended: string[] = [];
    for (const connection of this.#room.participants.connections.all()) {
      if (connection.phase !== "joined" || (userId !== null && connection.userId !== userId)) continue;
      const { user, account, identity = 0 } = connection.tokenEpochs ?? { user: 0, account: 0 };
      if (account < current.account || user < (current.user ?? 0) || identity < (current.identity ?? 0))
        ended.push(connection.id);
    }
    return ended;
  }

  /** Stores the row of a room that no one has joined yet, for its events. */
  keepRow(row: RoomFields): void {
    this.#room.ports.storage.transaction(() => this.#room.ports.storage.occupancy.writeRoom(row));
  }

  /** The current row, as read after the latest change of it that the room knows. */
  recordRoom(row: RoomFields): void {
    this.#room.ports.storage.occupancy.recordLimits(row);
    this.#room.participants.sessions.updateRoom(row);
  }

  /**
   * Completes a `refreshRoom` effect: everyone receives the room's current fields, or, if it is to close the sockets
   * `closing` and the room is still closed, these are closed. Sockets that joined later did so when it was open again.
   */
  updateRoom(row: RoomFields, closing: readonly string[] | null): Effect[] {
    const { sessions } = this.#room.participants;
    const { changes } = this.#room.content;
    this.recordRoom(row);
    if (closing !== null && row.state === "closed") return this.#close(closing);
    if (this.#isDeleted || !this.isUsed) return [];
    const unnamed = this.#unnamedIn(row);
    const room = presentRoom(row, this.#room.ports.now(), sessions.stats);
    changes.transaction(() => changes.append("roomUpdated", () => ({ room })));
    return [...this.#room.participants.disconnectFor(unnamed, ANOTHER_ROOM), ...this.#sendChanges()];
  }

  /** Sockets whose tokens name the room by a former custom ID. */
  #unnamedIn(row: RoomFields): string[] {
    const joined = [...this.#room.participants.connections.all()];
    return joined.flatMap((each) =>
      each.phase === "joined" && !opensRoom({ rooms: each.byCustomId }, row) ? [each.id] : [],
    );
  }

  #close(ids: readonly string[]): Effect[] {
    const { connections } = this.#room.participants;
    const open = ids.filter((id) => connections.get(id) !== undefined);
    return [
      ...this.#room.participants.disconnect(open, CLOSE.forbidden, "room closed"),
      ...this.#room.participants.endGracePeriods(),
    ];
  }

  #sendChanges(): Effect[] {
    return this.#room.participants.connections.sendToAll(this.#room.content.changes.takeEvents());
  }

  /** Deletes everything the room stores, once the events of its deletion have been passed on. */
  clear(): Effect[] {
    const { participants, content, ports } = this.#room;
    const effects = participants.disconnectAll(CLOSE.roomDeleted, "room deleted");
    ports.storage.transaction(() => ports.storage.clear());
    participants.sessions.load();
    content.changes.reset();
    return effects;
  }
}

/** A change that failed half-way: its effects must be carried out, and the change be applied again. */
export class PartialFailure extends Error {
  readonly effects: readonly Effect[];

  constructor(effects: readonly Effect[], cause: unknown) {
    super("A change of a room failed half-way", { cause });
    this.effects = effects;
  }
}
