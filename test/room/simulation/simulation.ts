/** A host for the pure room: sockets, hibernation, crashes and a database, all in memory and checked at each step. */

import { rightsOfRole } from "@atrium/contract/resources/permissions.ts";
import { expect } from "vitest";
import { type JoinDecision, joinRefusal } from "../../../src/room/engine/join/join-decision.ts";
import { Room } from "../../../src/room/engine/room.ts";
import { serialize } from "../../../src/room/protocol/frame.ts";
import type { JoinedRoom, ServerMessage } from "../../../src/room/protocol/protocol.ts";
import { CLOSE } from "../../../src/room/protocol/protocol.ts";
import type { RoomStorage } from "../../../src/room/storage/storage.ts";
import type { Effect, Joined, JoinRequest, Waiting } from "../../../src/room/transport/connection.ts";
import { roomPorts } from "../support/room-ports.ts";
import { knownUser, ROOM, userRecord } from "../support/rows.ts";
import { EventHistory } from "./event-history.ts";

/** One socket as its client sees it. */
interface Socket {
  readonly id: string;
  attachment: Waiting | Joined | null;
  lastPingAt: number | null;
  /** Users online as the client has received them; null before it has joined. */
  seesOnline: Set<string> | null;
}

/** A decision on a join that has not been returned to the room yet. */
interface PendingDecision {
  readonly socketId: string;
  readonly decision: JoinDecision;
}

/** One step of a simulation. Numbers that pick a socket or a user are taken modulo how many there are. */
export type Step =
  | { readonly type: "open" }
  | { readonly type: "join"; readonly pick: number; readonly user: number; readonly answerNow: boolean }
  | { readonly type: "answer" }
  | { readonly type: "leave" | "close" | "break" | "ping" | "message"; readonly pick: number }
  | { readonly type: "wake"; readonly lose: number | null }
  /** Keeps the outbox from being drained until the room restarts. */
  | { readonly type: "stall" }
  | { readonly type: "crash" | "sweep" | "reconcile" | "closeRoom" | "reopenRoom" | "deleteRoom" }
  | { readonly type: "deleteUser" | "updateUser"; readonly user: number }
  | { readonly type: "advance"; readonly ms: number };

const USERS = ["u0", "u1", "u2", "u3"];

/** The end of a grace is a whole second. */
const WHOLE_MS = 1_000;

export class RoomSimulation {
  readonly #open: () => RoomStorage;
  #storage: RoomStorage;
  readonly #sockets = new Map<string, Socket>();
  readonly #deleted = new Set<string>();
  readonly #events = new EventHistory();
  /** The names of the events for webhooks and workflows so far. */
  readonly recorded: string[] = [];
  #isStalled = false;
  #pendingDecisions: PendingDecision[] = [];
  #room: Room;
  #roomState: "active" | "closed" = "active";
  #now = 1_000_000;
  #bornAt = this.#now;
  #ids = 0;
  #occupiedMs = 0;

  /** When the grace periods of the users end who are online without a socket. */
  readonly #gracePeriods = new Map<string, number>();
  /** Whether the latest socket that a user has lost was closed for good. */
  readonly #leftForGood = new Map<string, boolean>();
  readonly #graceMs: number;

  /** `open` is called whenever the room starts. */
  constructor(open: () => RoomStorage, graceMs: number) {
    [this.#open, this.#storage, this.#graceMs] = [open, open(), graceMs];
    this.#room = this.#start();
  }

  #start(): Room {
    this.#storage = this.#open();
    return new Room(
      roomPorts({
        storage: this.#storage,
        now: () => this.#now,
        newId: () => this.#newId("session"),
        graceMs: this.#graceMs,
        lastPingAt: (id) => this.#sockets.get(id)?.lastPingAt ?? null,
      }),
    );
  }

  #newId(kind: string): string {
    this.#ids += 1;
    return `${kind}-${this.#ids}`;
  }

  run(step: Step): void {
    const before = this.#joined();
    this.#perform(this.#apply(step));
    this.#updateGraces(step, before);
    this.#check();
  }

  /** The users with a socket. */
  #joined(): ReadonlySet<string> {
    const sockets = [...this.#sockets.values()];
    return new Set(
      sockets.flatMap(({ attachment }) => (attachment?.phase === "joined" ? [attachment.userId] : [])),
    );
  }

  /** Applies a step to users who are online without a socket. */
  #updateGraces(step: Step, before: ReadonlySet<string>): void {
    const joined = this.#joined();
    for (const [userId, endsAt] of this.#gracePeriods) {
      const isChecked = step.type === "sweep" || step.type === "reconcile";
      if (joined.has(userId) || (isChecked && endsAt <= this.#now)) this.#gracePeriods.delete(userId);
    }
    if (step.type === "closeRoom" || step.type === "deleteRoom") this.#gracePeriods.clear();
    if (step.type === "deleteUser") this.#gracePeriods.delete(USERS[step.user % USERS.length] ?? "");
    const endsAt = Math.ceil((this.#now + this.#graceMs) / WHOLE_MS) * WHOLE_MS;
    for (const userId of before)
      if (this.#graceMs > 0 && !joined.has(userId) && this.#leftForGood.get(userId) === false)
        this.#gracePeriods.set(userId, endsAt);
    this.#leftForGood.clear();
  }

  /** A socket is gone. */
  #lose(socket: Socket, isForGood: boolean): void {
    this.#sockets.delete(socket.id);
    if (socket.attachment?.phase === "joined") this.#leftForGood.set(socket.attachment.userId, isForGood);
  }

  #apply(step: Step): readonly Effect[] {
    switch (step.type) {
      case "open": {
        const socket = { id: this.#newId("socket"), attachment: null, lastPingAt: null, seesOnline: null };
        this.#sockets.set(socket.id, socket);
        return this.#room.open(socket.id, "192.0.2.1");
      }
      case "join": {
        const token = USERS[step.user % USERS.length];
        this.#perform(this.#receive(step.pick, { type: "JOIN_ROOM", data: { token } }));
        return step.answerNow ? this.#answer() : [];
      }
      case "answer":
        return this.#answer();
      case "leave":
        return this.#receive(step.pick, { type: "LEAVE_ROOM" });
      case "message":
        return this.#receive(step.pick, { type: "HELLO" });
      case "ping": {
        const socket = this.#pick(step.pick);
        if (socket !== undefined) socket.lastPingAt = this.#now;
        return [];
      }
      case "close":
      case "break": {
        const socket = this.#pick(step.pick);
        if (socket === undefined) return [];
        this.#lose(socket, step.type === "close");
        return this.#room.close(socket.id, step.type === "close");
      }
      case "wake": {
        const lost = step.lose === null ? undefined : this.#pick(step.lose);
        if (lost !== undefined) this.#lose(lost, false);
        return this.#restart();
      }
      case "crash":
        for (const socket of [...this.#sockets.values()]) this.#lose(socket, false);
        return this.#restart();
      case "sweep":
        return this.#room.participants.sweep();
      case "reconcile":
        return this.#room.reconcile().effects;
      case "closeRoom":
        this.#roomState = "closed";
        this.#perform(this.#room.commands.apply({ type: "room.closed" }));
        return [];
      case "reopenRoom":
        this.#roomState = "active";
        return [];
      case "deleteRoom":
        this.#bornAt = this.#now;
        this.#occupiedMs = 0;
        this.#perform(this.#room.commands.apply({ type: "room.deleted" }));
        this.#drainOutbox();
        this.#perform(this.#room.commands.clear());
        return this.#restart(); // a new room: the deleted one takes no writes any more
      case "stall":
        this.#isStalled = true;
        return [];
      case "deleteUser": {
        const userId = USERS[step.user % USERS.length] ?? "";
        this.#deleted.add(userId);
        return this.#room.commands.apply({ type: "user.deleted", userId });
      }
      case "updateUser": {
        const user = userRecord(USERS[step.user % USERS.length] ?? "");
        const effects = this.#room.commands.apply({ type: "user.updated", userId: user.id });
        return effects.length === 0
          ? []
          : this.#room.commands.updateUser(knownUser({ ...user, name: "New" }), "userUpdated");
      }
      case "advance":
        this.#now += step.ms;
        return [];
    }
  }

  #pick(pick: number): Socket | undefined {
    return [...this.#sockets.values()][pick % Math.max(1, this.#sockets.size)];
  }

  #receive(pick: number, message: object): readonly Effect[] {
    const socket = this.#pick(pick);
    return socket === undefined ? [] : this.#room.messages.receive(socket.id, JSON.stringify(message));
  }

  /** Memory is lost: the room restarts from storage and attachments, and no decision is pending. */
  #restart(): readonly Effect[] {
    this.#pendingDecisions = [];
    this.#isStalled = false;
    this.#room = this.#start();
    return this.#room.restore([...this.#sockets.values()].flatMap(({ attachment }) => attachment ?? []));
  }

  /** Returns the oldest pending decision, based on the state at its time. */
  #answer(): readonly Effect[] {
    const pending = this.#pendingDecisions.shift();
    return pending === undefined ? [] : this.#room.handshake.complete(pending.socketId, pending.decision);
  }

  #decide({ token }: JoinRequest): JoinDecision {
    if (this.#deleted.has(token)) return joinRefusal("Auth", "UNAUTHORIZED", "deleted", true);
    if (this.#roomState === "closed") return joinRefusal("Rooms", "FORBIDDEN", "closed");
    const user = userRecord(token);
    const rights = rightsOfRole(user.role);
    const tokenExpiresAt = this.#bornAt + 400_000;
    return { approved: true, room: ROOM, user, rights, ceiling: rights, tokenExpiresAt };
  }

  #perform(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.type) {
        case "send":
          for (const id of effect.to)
            this.#deliver(this.#getOpen(id), JSON.parse(serialize(effect.message)) as ServerMessage);
          break;
        case "attach":
          this.#getOpen(effect.connection.id).attachment = effect.connection;
          break;
        case "close":
          this.#lose(this.#getOpen(effect.id), effect.code !== CLOSE.silent && effect.code !== CLOSE.failed);
          break;
        case "authorizeJoin":
          this.#pendingDecisions.push({ socketId: effect.id, decision: this.#decide(effect.request) });
          break;
        case "refreshRoom":
          this.#perform(this.#room.commands.updateRoom({ ...ROOM, state: this.#roomState }, effect.closing));
          break;
      }
    }
    if (!this.#isStalled) this.#drainOutbox();
  }

  #drainOutbox(): void {
    for (const { seq, event, body } of this.#storage.events.list(1_000)) {
      this.#events.add(body);
      this.recorded.push(event);
      this.#storage.events.delete(seq);
    }
  }

  /** No effect may concern a socket that is closed. */
  #getOpen(id: string): Socket {
    const socket = this.#sockets.get(id);
    if (socket === undefined) throw new Error(`${id} is closed`);
    return socket;
  }

  #deliver(socket: Socket, message: ServerMessage): void {
    if (message.type === "response") {
      if (message.success && isJoinedRoom(message.data))
        socket.seesOnline = new Set(message.data.users.map(({ id }) => id));
      return;
    }
    if (message.event === "userJoined") {
      expect(socket.seesOnline).not.toContain(message.data.userId);
      socket.seesOnline?.add(message.data.userId);
    }
    if (message.event === "userLeft") {
      expect(socket.seesOnline).toContain(message.data.userId);
      socket.seesOnline?.delete(message.data.userId);
    }
  }

  #check(): void {
    const online = new Set([...this.#joined(), ...this.#gracePeriods.keys()]);
    expect(new Set(this.#storage.listOpenSessions().map(({ user }) => user.id))).toEqual(online);
    this.#checkSessions(online);
    this.#checkStats(online.size);
    for (const { seesOnline } of this.#sockets.values())
      if (seesOnline !== null) expect(seesOnline).toEqual(online);
    for (const userId of online) expect(this.#deleted).not.toContain(userId);
    if (this.#roomState === "closed") expect(online.size).toBe(0);
    if (!this.#isStalled) this.#checkEvents(online);
    expect(this.#room.participants.sweepAt() === null).toBe(
      this.#sockets.size + this.#gracePeriods.size === 0,
    );
  }

  /** The outbox is empty, and the events describe the room as it is. */
  #checkEvents(online: ReadonlySet<string>): void {
    expect(this.#storage.events.list(1)).toEqual([]);
    expect(this.#events.online).toEqual(online);
    expect(this.#events.hasSession).toBe(online.size > 0);
  }

  #checkSessions(online: ReadonlySet<string>): void {
    for (const userId of USERS) {
      const sessions = this.#room.sessions.list(userId);
      const open = sessions.filter(({ leftAt }) => leftAt === null);
      expect(open).toHaveLength(online.has(userId) ? 1 : 0);
      expect(this.#room.sessions.findLastSeen([userId])[userId]?.online ?? false).toBe(online.has(userId));
      for (const [index, { joinedAt, leftAt }] of sessions.entries()) {
        expect(leftAt ?? this.#now).toBeGreaterThanOrEqual(joinedAt);
        expect(joinedAt).toBeGreaterThanOrEqual(sessions[index + 1]?.leftAt ?? 0);
        if (leftAt === null) expect(index).toBe(0);
      }
    }
  }

  #checkStats(online: number): void {
    const { stats } = this.#room.sessions;
    expect(stats.activeParticipants).toBe(online);
    expect(stats.occupiedSince === null).toBe(online === 0);
    const running = stats.occupiedSince === null ? 0 : this.#now - stats.occupiedSince;
    expect(running).toBeGreaterThanOrEqual(0);
    expect(stats.occupiedMs + running).toBeLessThanOrEqual(this.#now - this.#bornAt);
    expect(stats.occupiedMs).toBeGreaterThanOrEqual(this.#occupiedMs);
    this.#occupiedMs = stats.occupiedMs;
  }

  /** Checks that reconciling changes nothing after a sweep. */
  finish(): void {
    this.run({ type: "wake", lose: null });
    this.run({ type: "sweep" });
    const before = this.#room.sessions.record;
    const { previous, effects } = this.#room.reconcile();
    expect(effects).toEqual([]);
    expect(previous).toBe(this.#room.sessions.stats.activeParticipants);
    expect(this.#room.sessions.record).toEqual(before);
  }
}

const isJoinedRoom = (data: object): data is JoinedRoom => "users" in data;
