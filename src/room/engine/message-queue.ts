/** Token buckets of users and sockets, and the fair queue of messages that their users cannot afford yet. */

import { LIMITS } from "@atrium/contract/limits.ts";
import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import { KeyedLimits, TokenBucket } from "@atrium/contract/pacing/token-bucket.ts";
import { FairQueue } from "../../platform/flow/fair-queue.ts";
import { costOf, framesOf, framesOfRefused, pointsOf, RATES, type SocketMessage } from "../protocol/costs.ts";
import type { RoomRequest } from "../protocol/room-request.ts";
import type { Joined } from "../transport/connection.ts";
import type { RoomConnections } from "../transport/connections.ts";
import type { RoomPorts } from "../transport/room-ports.ts";

interface WaitingMessage {
  readonly id: string;
  readonly userId: string;
  readonly message: SocketMessage;
  readonly bytes: number;
}

/** The pause after a flood, which doubles each time. */
const FLOOD_PAUSE = { firstMs: 5_000, maxMs: 60_000 };
/** Time without a flood that resets the pause to the first one. */
const FLOOD_FORGET_MS = 60_000;

/** The wait for a client that has to read first, before looking again. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Kept in memory only: buckets refill and the queue empties long before the object can hibernate. A crash loses
 * unanswered messages only.
 */
export class MessageQueue {
  readonly #ports: Pick<RoomPorts, "now" | "answerableIn">;
  readonly #connections: RoomConnections;
  readonly #frames = new KeyedLimits((now) => new TokenBucket(RATES.framesOfSocket, now));
  readonly #users = new KeyedLimits((now) => new UserLimits(now));
  readonly #waiting = new FairQueue<WaitingMessage>();
  readonly #broadcasts: TokenBucket;

  constructor(ports: Pick<RoomPorts, "now" | "answerableIn">, connections: RoomConnections) {
    this.#ports = ports;
    this.#connections = connections;
    this.#broadcasts = new TokenBucket(RATES.broadcastsOfRoom, ports.now());
  }

  /** Admits a message of a joined socket; a waiting one is kept for {@link next}. */
  admit({ id, userId }: Joined, message: SocketMessage, bytes: number): "run" | "wait" | "refuse" | "close" {
    const { excess, isExpensiveRead } = costOf(message.type);
    const waiting = this.#waiting.itemsOf(id);
    const isNext = waiting.length === 0;
    if (excess === "runs" || (excess === "follows" && isNext)) {
      this.#spend(userId, message);
      return "run";
    }
    if (isNext && excess === "refused") return this.canBroadcast(userId) ? "run" : "refuse";
    if (isNext && this.#runnableIn({ id, userId, message }) === 0) {
      this.#spend(userId, message);
      return "run";
    }
    // A broadcast must not overtake the writes before it.
    const isAlike = isExpensiveRead ? isLarge : excess === "refused" ? isBroadcast : () => false;
    if (waiting.filter(isAlike).length >= LIMITS.waitingOfSocket) return "refuse";
    if (!this.#reserve(userId, bytes)) return "close";
    this.#waiting.add(id, { id, userId, message, bytes });
    return "wait";
  }

  /** True while a user, and the room as a whole, may broadcast. */
  canBroadcast(userId: string): boolean {
    const buckets = [this.#ofUser(userId).broadcasts, this.#broadcasts];
    return this.canAfford(userId) && buckets.every((bucket) => bucket.left(this.#ports.now()) > 0);
  }

  /** True while a user may ask more of the room. */
  canAfford(userId: string): boolean {
    return this.#ofUser(userId).work.left(this.#ports.now()) > 0;
  }

  /** Charges a user's message over REST, which cannot wait; false while the user owes a whole burst. */
  charge(userId: string, message: RoomRequest): boolean {
    const isAffordable = this.#ofUser(userId).work.left(this.#ports.now()) > -RATES.workOfUser.burst;
    if (isAffordable) this.#spend(userId, message);
    return isAffordable;
  }

  #runnableIn({ id, userId, message }: Omit<WaitingMessage, "bytes">): number {
    if (costOf(message.type).excess === "follows") return 0;
    const now = this.#ports.now();
    const { work, broadcasts } = this.#ofUser(userId);
    const affordableIn = work.affordableIn(now);
    if (message.type === "BROADCAST")
      return Math.max(affordableIn, broadcasts.affordableIn(now), this.#broadcasts.affordableIn(now));
    if (!costOf(message.type).isExpensiveRead) return affordableIn;
    return Math.max(affordableIn, this.#ports.answerableIn(id) ?? LOOK_AGAIN_MS);
  }

  #spend(userId: string, message: SocketMessage | RoomRequest): void {
    const points = pointsOf(message);
    if (points > 0) this.#ofUser(userId).work.spend(points, this.#ports.now());
  }

  /** Spends the points of a user's deliveries. */
  countDelivery(userId: string, points: number, isBroadcast: boolean): void {
    const now = this.#ports.now();
    const { work, broadcasts } = this.#ofUser(userId);
    for (const bucket of isBroadcast ? [work, broadcasts, this.#broadcasts] : [work])
      bucket.spend(points, now);
  }

  /** Takes the next message that may run; null when none may yet. */
  next(): { readonly id: string; readonly message: SocketMessage } | null {
    const isOpen = (id: string) => this.#connections.get(id) !== undefined;
    const isReady = (waiting: WaitingMessage) => !isOpen(waiting.id) || this.#runnableIn(waiting) === 0;
    for (let found = this.#waiting.take(isReady); found; found = this.#waiting.take(isReady)) {
      if (isOpen(found.id)) {
        this.#release(found.userId, found.bytes);
        this.#spend(found.userId, found.message);
        return found;
      }
      for (const { userId, bytes } of [found, ...this.#waiting.takeOf(found.id)])
        this.#release(userId, bytes);
    }
    return null;
  }

  /** Milliseconds until a waiting message may run; null when none waits. */
  nextIn(): number | null {
    let soonest: number | null = null;
    for (const waiting of this.#waiting.heads())
      soonest = Math.min(soonest ?? LOOK_AGAIN_MS, this.#runnableIn(waiting));
    return soonest;
  }

  #ofUser(userId: string): UserLimits {
    const now = this.#ports.now();
    const limits = this.#users.of(userId, now);
    limits.forgive(now);
    return limits;
  }

  /** Counts a frame. False when its socket, or its user, has sent too many. */
  countFrame(connection: Joined, bytes: number): boolean {
    return this.#spendFrames(connection, framesOf(bytes));
  }

  /** Counts a frame of a refused message once more, so that large ones become too many sooner (R85). */
  countRefused(connection: Joined, bytes: number): void {
    this.#spendFrames(connection, framesOfRefused(bytes));
  }

  #spendFrames({ id, userId }: Joined, frames: number): boolean {
    const now = this.#ports.now();
    const ofSocket = this.#frames.of(id, now).spend(frames, now);
    const ofUser = this.#ofUser(userId).frames.spend(frames, now);
    return ofSocket >= 0 && ofUser >= 0;
  }

  /** A user's socket is closed for flooding: the user may join again after a pause, which grows with each flood. */
  recordFlood(userId: string): void {
    const now = this.#ports.now();
    const user = this.#ofUser(userId);
    if (now < user.pausedUntil) return; // another socket of the same flood
    user.frames = new TokenBucket(RATES.framesAfterFlood, now);
    user.frames.spend(RATES.framesAfterFlood.burst, now);
    user.joins = new TokenBucket(RATES.joinsAfterFlood, now);
    user.floods += 1;
    user.pausedUntil = now + backoffMs(user.floods, FLOOD_PAUSE);
  }

  /** Counts an attempt to join with the user's token. False when it comes too soon. */
  countJoin(userId: string): boolean {
    const now = this.#ports.now();
    const { joins, pausedUntil } = this.#ofUser(userId);
    const isAllowed = now >= pausedUntil && joins.left(now) > 0;
    if (isAllowed) joins.spend(1, now);
    return isAllowed;
  }

  /** Counts a message that waits. False when its user has too many already. */
  #reserve(userId: string, bytes: number): boolean {
    const user = this.#ofUser(userId);
    if (user.waitingMessages >= LIMITS.waitingMessages || user.waitingBytes + bytes > LIMITS.waitingBytes)
      return false;
    user.waitingMessages += 1;
    user.waitingBytes += bytes;
    return true;
  }

  #release(userId: string, bytes: number): void {
    const user = this.#ofUser(userId);
    user.waitingMessages -= 1;
    user.waitingBytes -= bytes;
  }
}

const isLarge = ({ message }: WaitingMessage): boolean => costOf(message.type).isExpensiveRead;
const isBroadcast = ({ message }: WaitingMessage): boolean => message.type === "BROADCAST";

class UserLimits {
  /** Smaller while a flood is remembered, as `joins`. */
  frames: TokenBucket;
  joins: TokenBucket;
  readonly work: TokenBucket;
  readonly broadcasts: TokenBucket;
  /** Floods in a row, and when the user may join again after them (epoch ms). */
  floods = 0;
  pausedUntil = Number.NEGATIVE_INFINITY;
  waitingMessages = 0;
  waitingBytes = 0;

  constructor(now: number) {
    this.frames = new TokenBucket(RATES.framesOfUser, now);
    this.joins = new TokenBucket(RATES.joinsOfUser, now);
    this.work = new TokenBucket(RATES.workOfUser, now);
    this.broadcasts = new TokenBucket(RATES.broadcastsOfUser, now);
  }

  /** True when new limits would be equal. */
  isFull(now: number): boolean {
    const buckets = [this.frames, this.joins, this.work, this.broadcasts];
    const isForgiven = now > this.pausedUntil + FLOOD_FORGET_MS;
    return isForgiven && this.waitingMessages === 0 && buckets.every((bucket) => bucket.isFull(now));
  }

  forgive(now: number): void {
    if (this.floods === 0 || now <= this.pausedUntil + FLOOD_FORGET_MS) return;
    this.floods = 0;
    this.frames = new TokenBucket(RATES.framesOfUser, now);
    this.joins = new TokenBucket(RATES.joinsOfUser, now);
  }
}
