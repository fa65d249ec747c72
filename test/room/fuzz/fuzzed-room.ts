/** Hosts the pure room in this process, with a database and a clock. Its storage may fail. */

import { AppError } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import { rightsOfRole } from "@atrium/contract/resources/permissions.ts";
import type { Role, UserRecord } from "@atrium/contract/resources/user.ts";
import { byteLength } from "@atrium/contract/text.ts";
import { expect } from "vitest";
import type { RoomRow } from "../../../src/features/rooms/table.ts";
import { JOIN_FAILED, type JoinDecision, joinRefusal } from "../../../src/room/engine/join/join-decision.ts";
import { Room } from "../../../src/room/engine/room.ts";
import { isErasure, PartialFailure } from "../../../src/room/engine/room-commands.ts";
import { deliveryPoints } from "../../../src/room/protocol/costs.ts";
import { serialize } from "../../../src/room/protocol/frame.ts";
import { CLOSE } from "../../../src/room/protocol/protocol.ts";
import type { RoomRequest } from "../../../src/room/protocol/room-request.ts";
import type { RoomStorage } from "../../../src/room/storage/storage.ts";
import type { Effect, Joined, Waiting } from "../../../src/room/transport/connection.ts";
import type { RoomCommand } from "../../../src/room/types/room-object.ts";
import { roomPorts } from "../support/room-ports.ts";
import { knownUser, ROOM, userRecord } from "../support/rows.ts";
import { FailingStorage } from "./failing-storage.ts";
import type { Host, Line, Receiver, RoomState } from "./host.ts";
import { USERS, VIEWER } from "./steps.ts";

const FRAME_MS = 1;
const RECOVERY_MS = 1_000;
const GRACE_MS = 10_000;
/** Longer than anything may wait. */
const LONGEST_WAIT_MS = 10 * 60_000;
const TOKEN_MS = 90 * 24 * 60 * 60 * 1000;

interface Socket {
  readonly receiver: Receiver;
  readonly pings: boolean;
  attachment: Waiting | Joined | null;
}

/** A read that waits for the database. The command that caused it is applied again after a crash. */
interface Read {
  readonly command: RoomCommand | null;
  run(): void;
}

/** A user's row. */
interface Person {
  readonly user: UserRecord;
  epoch: number;
  isDeleted: boolean;
}

/** Options of a hosted room. */
interface HostedRoom {
  /** Returns a function that puts the storage back as it is now; null where that is not possible. */
  readonly copyStored?: () => (() => void) | null;
  /** The role of each user; by default those of {@link USERS}. */
  readonly roles?: readonly Role[];
  readonly graceMs?: number;
}

const ROLES = USERS.map((_, index): Role => (index === VIEWER ? "viewer" : "editor"));

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

export class FuzzedRoom implements Host {
  readonly userIds: readonly string[];
  state: RoomState = "active";
  readonly #storage: () => FailingStorage;
  readonly #copyStored: () => (() => void) | null;
  readonly #graceMs: number;
  #backup: (() => void) | null = null;
  readonly #people: readonly Person[];
  readonly #sockets = new Map<string, Socket>();
  #failing: FailingStorage;
  /** Faults of the storages before this one. */
  #faults = 0;
  #row: RoomRow;
  #accountEpoch = 0;
  #isHeld = false;
  #reads: Read[] = [];
  #command: RoomCommand | null = null;
  #room: Room;
  #ids = 0;
  #now = 1_000_000;
  #resumeAt: number | null = null;
  #recoverAt: number | null = null;
  #hasPresenceChanged = false;
  #isFoldDue = false;
  /** Points of frames sent since the last `countDelivery`. */
  #points = 0;
  #arm: number | null = null;

  /** `storage` is called whenever the room starts. */
  constructor(storage: () => RoomStorage, { copyStored, roles, graceMs }: HostedRoom = {}) {
    this.#storage = () => new FailingStorage(storage());
    this.#copyStored = copyStored ?? (() => null);
    this.#graceMs = graceMs ?? GRACE_MS;
    this.#row = { ...ROOM, id: uuid(100), accountId: uuid(101) };
    this.#people = (roles ?? ROLES).map((role, index) => ({
      user: userRecord(uuid(index + 1), { accountId: this.#row.accountId, roomId: this.#row.id, role }),
      epoch: 0,
      isDeleted: false,
    }));
    this.userIds = this.#people.map(({ user }) => user.id);
    this.#failing = this.#storage();
    this.#room = this.#start();
  }

  get participants(): number {
    return this.#room.sessions.stats.activeParticipants;
  }

  get faults(): number {
    return this.#faults + this.#failing.faults;
  }

  #start(): Room {
    this.#faults += this.#failing.faults;
    this.#failing = this.#storage();
    return new Room(
      roomPorts({
        storage: this.#failing.storage,
        now: () => this.#now,
        newId: () => this.#newId(),
        graceMs: this.#graceMs,
        roomId: () => this.#row.id,
        lastPingAt: (id) => (this.#sockets.get(id)?.pings === true ? this.#now : null),
        report: (_, error) => this.#requireFault(error),
      }),
    );
  }

  /** Nothing fails unless the fuzzer has made something fail. */
  #requireFault(error: unknown): void {
    if (this.faults === 0) throw error;
  }

  #newId(): string {
    this.#ids += 1;
    return uuid(1_000 + this.#ids);
  }

  async token(user: number): Promise<string> {
    return JSON.stringify({ user, epochs: [this.#people[user]?.epoch ?? 0, this.#accountEpoch] });
  }

  async open(receiver: Receiver, pings: boolean): Promise<Line> {
    const id = this.#newId();
    this.#sockets.set(id, { receiver, pings, attachment: null });
    this.#perform(this.#room.open(id, "192.0.2.1"));
    return {
      send: async (frame) => this.#receive(id, frame),
      cut: async () => {
        if (!this.#sockets.delete(id)) return;
        this.#failNext();
        this.#perform(this.#room.close(id, false));
        this.heal();
      },
    };
  }

  #receive(id: string, frame: string | ArrayBuffer): void {
    if (!this.#sockets.has(id)) return;
    this.#tick(FRAME_MS);
    this.#failNext();
    this.#attempt([id], () => this.#room.messages.receive(id, frame));
    this.heal();
  }

  /** Runs work like the object, which closes a socket whose work fails. */
  #attempt(ids: readonly string[], work: () => readonly Effect[]): void {
    let effects: readonly Effect[];
    try {
      effects = work();
    } catch (error) {
      this.#requireFault(error);
      effects = this.#room.disconnectFailed(ids);
    }
    this.#perform(effects);
  }

  #failNext(): void {
    if (this.#arm !== null) this.#failing.arm(this.#arm);
    this.#arm = null;
  }

  failStorage(after: number): void {
    this.#arm = after;
  }

  heal(): void {
    this.#arm = null;
    this.#failing.heal();
  }

  /** Makes memory match storage again, as the room's alarm does a while after a failure. */
  #recover(): void {
    this.#recoverAt = null;
    this.#perform(this.#room.reconcile().effects);
  }

  #tick(ms: number): void {
    this.#now += ms;
    if (this.#resumeAt !== null && this.#resumeAt <= this.#now) this.#resume();
  }

  #resume(): void {
    this.#resumeAt = null;
    this.#perform(this.#room.messages.resume());
  }

  #perform(effects: readonly Effect[]): void {
    this.#points = 0;
    for (const effect of effects) this.#carryOut(effect);
    this.#drain();
  }

  #carryOut(effect: Effect): void {
    switch (effect.type) {
      case "send": {
        const text = serialize(effect.message);
        this.#points += deliveryPoints(text.length, effect.to.length);
        for (const id of effect.to) this.#sockets.get(id)?.receiver.receive(text);
        return;
      }
      case "sendBytes":
        this.#points += deliveryPoints(effect.frame.length, effect.to.length);
        for (const id of effect.to) this.#sockets.get(id)?.receiver.receive(effect.frame);
        return;
      case "foldDocuments":
        this.#isFoldDue = true;
        return;
      case "countDelivery":
        this.#room.queue.countDelivery(effect.userId, this.#points + (effect.work ?? 0), effect.isBroadcast);
        this.#points = 0;
        return;
      case "attach":
        this.#attach(effect.connection);
        return;
      case "close":
        this.#close(effect.id, effect.code);
        return;
      case "presenceChanged":
        this.#hasPresenceChanged = true;
        return;
      case "resumeIn":
        this.#resumeAt = this.#now + effect.ms;
        return;
      case "acknowledgeRead":
      case "planAlarm":
      case "holdJoins":
        return;
      case "recoverSoon":
        this.#recoverAt ??= this.#now + RECOVERY_MS;
        return;
      default:
        this.#read(effect);
    }
  }

  #attach(connection: Waiting | Joined): void {
    const socket = this.#sockets.get(connection.id);
    if (socket === undefined) return;
    socket.attachment = connection;
    if (connection.phase !== "joined") return;
    // Bounds of `transport/attachment`: together far below the 16 KiB of the platform.
    expect(byteLength(connection.presence ?? "")).toBeLessThanOrEqual(LIMITS.presenceBytes);
    const subscriptions = byteLength(JSON.stringify(connection.subscriptions));
    expect(subscriptions).toBeLessThanOrEqual(LIMITS.subscriptionBytes);
  }

  #close(id: string, code: number): void {
    const socket = this.#sockets.get(id);
    this.#sockets.delete(id);
    socket?.receiver.close(code);
  }

  #drain(): void {
    const { events } = this.#failing.untouched;
    for (const { seq } of events.list(1_000)) events.delete(seq);
  }

  /** Reads the present state of the database; the room receives it at once, or when the database is released. */
  #read(effect: Effect): void {
    const result = this.#answerTo(effect);
    this.#reads.push({ command: this.#command, run: () => this.#perform(result()) });
    if (!this.#isHeld) this.#answerReads();
  }

  #answerTo(effect: Effect): () => readonly Effect[] {
    switch (effect.type) {
      case "authorizeJoin": {
        const decision = this.#decide(effect.request.token);
        return () => this.#join(effect.id, decision);
      }
      case "authorizeRefresh": {
        const decision = this.#decide(effect.token);
        return () => this.#room.handshake.completeRefresh(effect.id, decision, effect.requestId);
      }
      case "queryDatabase": {
        const result = this.#query(effect);
        return () => this.#room.databaseRequests.answer(effect, result);
      }
      case "refreshUser":
        return () => {
          const person = this.#people.find(({ user }) => user.id === effect.userId);
          return person === undefined || person.isDeleted
            ? []
            : this.#room.commands.updateUser(knownUser(person.user), effect.event);
        };
      case "refreshRoom":
        return () =>
          this.state === "deleted" ? [] : this.#room.commands.updateRoom(this.#row, effect.closing);
      case "refreshTokens":
        return () => {
          const user = this.#people.find((person) => person.user.id === effect.userId)?.epoch ?? 0;
          return this.#room.commands.endTokens(effect.userId, { account: this.#accountEpoch, user });
        };
      default:
        throw new Error(`${effect.type} reads nothing`);
    }
  }

  /** A join that fails is refused, and its socket closed if the room cannot even do that. */
  #join(id: string, decision: JoinDecision): readonly Effect[] {
    try {
      return this.#room.handshake.complete(id, decision);
    } catch (error) {
      this.#requireFault(error);
      this.#perform(this.#room.handshake.complete(id, JOIN_FAILED));
      return this.#room.disconnectFailed([id]);
    }
  }

  #exists(userId: string): boolean {
    return this.#people.some(({ user, isDeleted }) => user.id === userId && !isDeleted);
  }

  #query({ query }: Extract<Effect, { type: "queryDatabase" }>) {
    if (query.type === "ROOM_GET") return this.state === "deleted" ? "failed" : { room: this.#row };
    if ("mentionId" in query.data || "commentId" in query.data || "text" in query.data)
      return { recipients: { readers: [], groups: [], unnotified: [] } };
    if (query.type !== "USERS_GET") return { userExists: this.#exists(query.data.userId) };
    const { offset, limit, userIds } = query.data;
    const users = this.#people
      .filter(({ isDeleted, user }) => !isDeleted && (userIds?.includes(user.id) ?? true))
      .map(({ user }) => user);
    return { users: users.slice(offset, offset + limit), total: users.length };
  }

  #decide(token: string): JoinDecision {
    const bearer = parseToken(token);
    const person = this.#people[bearer?.user ?? -1];
    if (this.state === "deleted") return joinRefusal("Rooms", "NOT_FOUND", "Room not found");
    if (bearer === null || person === undefined || person.isDeleted)
      return joinRefusal("Auth", "UNAUTHORIZED", "The token is invalid", true);
    const { user, epoch } = person;
    if (bearer.epochs[0] !== epoch || bearer.epochs[1] !== this.#accountEpoch)
      return joinRefusal("Auth", "UNAUTHORIZED", "The token has ended", true);
    if (this.state === "closed") return joinRefusal("Rooms", "FORBIDDEN", "The room is closed");
    const tokenEpochs = { user: epoch, account: this.#accountEpoch };
    const tokenExpiresAt = this.#now + TOKEN_MS;
    const rights = rightsOfRole(user.role);
    return { approved: true, room: this.#row, user, rights, ceiling: rights, tokenExpiresAt, tokenEpochs };
  }

  #answerReads(): void {
    for (let read = this.#reads.shift(); read !== undefined; read = this.#reads.shift()) {
      this.#run(read);
    }
    this.#command = null;
  }

  /** A command whose read fails is applied again. */
  #run({ command, run }: Read): void {
    this.#command = command;
    try {
      run();
    } catch (error) {
      this.#requireFault(error);
      this.#failing.heal();
      if (command !== null) this.#applySteps(command);
    }
  }

  async hold(isHeld: boolean): Promise<void> {
    this.#isHeld = isHeld;
    if (isHeld) return;
    this.#failNext();
    this.#answerReads();
    this.heal();
  }

  async apply(command: RoomCommand): Promise<void> {
    this.#apply(command);
  }

  async deleteUser(user: number): Promise<void> {
    const person = this.#people[user];
    if (person !== undefined) person.isDeleted = true;
  }

  async endTokens(user: number | null): Promise<void> {
    if (user === null) this.#accountEpoch += 1;
    const person = this.#people[user ?? -1];
    if (person !== undefined) person.epoch += 1;
  }

  async setState(state: "active" | "closed"): Promise<void> {
    this.state = state;
    this.#row = { ...this.#row, state };
  }

  /** A failed call may have begun a session. */
  async addParticipant(user: number, ttl: number): Promise<void> {
    const person = this.#people[user];
    if (person === undefined || person.isDeleted || this.state !== "active") return;
    this.#failNext();
    try {
      const visitor = { room: this.#row, user: person.user };
      this.#perform(this.#room.restParticipants.add(visitor, { state: { user }, ttl }).effects);
    } catch (error) {
      if (!(error instanceof AppError)) {
        this.#requireFault(error);
        this.#recoverAt ??= this.#now + RECOVERY_MS;
      }
    }
    this.heal();
  }

  /** The effects of each step are carried out before the next one, as the object does. */
  #applySteps(command: RoomCommand): void {
    const { commands } = this.#room;
    const steps = isErasure(command) ? commands.erase(command) : [commands.apply(command)];
    for (const effects of steps) this.#perform(effects);
  }

  /** A command that fails is applied again: its caller keeps it until it is done. */
  #apply(command: RoomCommand): void {
    this.#command = command;
    this.#failNext();
    try {
      this.#applySteps(command);
    } catch (error) {
      this.#requireFault(error);
      this.#failing.heal();
      if (error instanceof PartialFailure) this.#perform(error.effects);
      if (this.#recoverAt !== null) this.#recover();
      this.#applySteps(command);
    }
    this.heal();
    this.#command = null;
  }

  async request(request: RoomRequest): Promise<void> {
    this.#failNext();
    this.#perform(this.#room.request(request).effects);
    this.heal();
  }

  async deleteRoom(): Promise<void> {
    if (this.state === "deleted") return;
    this.state = "deleted";
    this.#perform(this.#room.commands.apply({ type: "room.deleted" }));
    this.#answerReads();
    this.#drain();
    this.#perform(this.#room.commands.clear());
  }

  async advance(ms: number): Promise<void> {
    this.#tick(ms);
    await this.flush();
    if (this.#recoverAt !== null && this.#recoverAt <= this.#now) this.#recover();
    const sweepAt = this.#room.participants.sweepAt();
    if (sweepAt !== null && sweepAt <= this.#now) await this.sweep();
  }

  async flush(): Promise<void> {
    this.#fold();
    if (!this.#hasPresenceChanged) return;
    this.#hasPresenceChanged = false;
    this.#perform(this.#room.flush(0));
  }

  /** A failed fold is repeated later. */
  #fold(): void {
    if (!this.#isFoldDue) return;
    this.#isFoldDue = false;
    try {
      this.#room.openDocuments.foldDue();
    } catch (error) {
      this.#requireFault(error);
    }
  }

  async sweep(): Promise<void> {
    this.#failNext();
    this.#perform(this.#room.participants.sweep());
    this.heal();
  }

  async reconcile(): Promise<void> {
    this.#perform(this.#room.reconcile().effects);
  }

  async hibernate(): Promise<boolean> {
    await this.flush();
    if (this.#reads.length > 0 || this.#resumeAt !== null) return false;
    this.#restart();
    return true;
  }

  async backUp(): Promise<void> {
    this.#backup = this.#copyStored();
  }

  async restore(): Promise<boolean> {
    if (this.#backup === null || this.state === "deleted") return false;
    const putBack = this.#backup;
    await this.crash();
    putBack();
    this.#restart();
    return true;
  }

  async crash(): Promise<void> {
    const lost = [...this.#sockets.values()];
    this.#sockets.clear();
    for (const { receiver } of lost) receiver.close(CLOSE.failed);
    const commands = new Set(this.#reads.flatMap(({ command }) => command ?? []));
    this.#reads = [];
    this.#restart();
    for (const command of commands) this.#apply(command);
  }

  #restart(): void {
    this.#resumeAt = null;
    this.#recoverAt = null;
    this.#hasPresenceChanged = false;
    this.#isFoldDue = false;
    this.heal();
    this.#room = this.#start();
    const attachments = [...this.#sockets.values()].flatMap(({ attachment }) => attachment ?? []);
    this.#perform(this.#room.restore(attachments));
  }

  /** Nothing here takes real time. */
  async settle(): Promise<void> {
    this.heal();
    await this.hold(false);
    const deadline = this.#now + LONGEST_WAIT_MS;
    while (this.#resumeAt !== null) {
      expect(this.#now, "something waits for ever").toBeLessThan(deadline);
      this.#now = Math.max(this.#now, this.#resumeAt);
      this.#resume();
    }
    if (this.#recoverAt !== null) this.#recover();
    await this.flush();
  }

  async outlastGraces(): Promise<void> {
    while (this.#failing.untouched.gracePeriods.list().length > 0) await this.advance(GRACE_MS);
  }

  async checkGrowth(): Promise<void> {
    const { entries, events, follows } = this.#failing.untouched;
    expect(events.list(1)).toEqual([]);
    let total = 0;
    for (const { name, ...size } of entries.listStores()) {
      const found = [...entries.scan(name, null)];
      const bytes = found.reduce((sum, { key, value }) => sum + byteLength(key) + byteLength(value), 0);
      expect(size, `what the store ${name} counts`).toEqual({ entries: found.length, bytes });
      total += bytes;
    }
    expect(entries.totals()).toEqual({ stores: entries.listStores().length, bytes: total });
    for (const userId of this.userIds)
      expect(follows.listFollowed(userId).length).toBeLessThanOrEqual(LIMITS.followed);
    const sockets = [...this.#sockets.keys()];
    for (const id of sockets)
      expect(this.#room.isOpen(id), "the room has forgotten an open socket").toBe(true);
  }
}

function parseToken(
  token: string,
): { readonly user: number; readonly epochs: readonly [number, number] } | null {
  try {
    return JSON.parse(token);
  } catch {
    return null;
  }
}
