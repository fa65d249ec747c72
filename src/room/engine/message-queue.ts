/** The fair queue of messages whose users cannot afford them yet: sockets take turns, each in its order. */
import { FairQueue } from "../../platform/flow/fair-queue.ts";
import { TokenBucket } from "../../platform/flow/token-bucket.ts";
import {
  BROADCASTS_OF_ROOM,
  costOf,
  MAX_WAITING_OF_SOCKET,
  pointsOf,
  type SocketMessage,
  WORK_OF_USER,
} from "../protocol/costs.ts";
import type { Joined } from "../transport/connection.ts";
import type { Connections } from "../transport/connections.ts";
import { RoomLimits } from "./user-limits.ts";

export interface MessageQueuePorts {
  now(): number;
  /** Milliseconds until the socket may be sent another answer; null when its client has to read first. */
  answerableIn(id: string): number | null;
}

interface WaitingMessage {
  /** Of its socket. */
  readonly id: string;
  readonly userId: string;
  readonly message: SocketMessage;
  readonly bytes: number;
}

/** The wait for a client that has to read first, before looking again. */
const LOOK_AGAIN_MS = 1_000;

/** Memory only: nothing waits long enough for the object to hibernate, and a crash loses unanswered messages only. */
export class MessageQueue {
  readonly #ports: MessageQueuePorts;
  readonly #connections: Connections;
  readonly limits: RoomLimits;
  /** By socket. */
  readonly #waiting = new FairQueue<WaitingMessage>();
  readonly #broadcasts: TokenBucket;

  constructor(ports: MessageQueuePorts, connections: Connections) {
    this.#ports = ports;
    this.#connections = connections;
    this.limits = new RoomLimits(() => ports.now());
    this.#broadcasts = new TokenBucket(BROADCASTS_OF_ROOM, ports.now());
  }

  /** Decides what happens to a message of a joined socket; one that waits is kept for {@link next}. */
  admit({ id, userId }: Joined, message: SocketMessage, bytes: number): "run" | "wait" | "refuse" | "close" {
    const { excess, isQuestion } = costOf(message.type);
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
    const isAlike = isQuestion ? isLarge : excess === "refused" ? isBroadcast : () => false;
    if (waiting.filter(isAlike).length >= MAX_WAITING_OF_SOCKET) return "refuse";
    if (!this.limits.reserve(userId, bytes)) return "close";
    this.#waiting.add(id, { id, userId, message, bytes });
    return "wait";
  }

  /** True while a user, and the room as a whole, may broadcast. */
  canBroadcast(userId: string): boolean {
    const buckets = [this.limits.ofUser(userId).broadcasts, this.#broadcasts];
    return this.canAfford(userId) && buckets.every((bucket) => bucket.left(this.#ports.now()) > 0);
  }

  /** True while a user may ask more of the room. */
  canAfford(userId: string): boolean {
    return this.limits.ofUser(userId).work.left(this.#ports.now()) > 0;
  }

  /** Charges a user's message over REST, which cannot wait; false while the user owes a whole burst. */
  charge(userId: string, message: SocketMessage): boolean {
    const isAffordable = this.limits.ofUser(userId).work.left(this.#ports.now()) > -WORK_OF_USER.burst;
    if (isAffordable) this.#spend(userId, message);
    return isAffordable;
  }

  #runnableIn({ id, userId, message }: Omit<WaitingMessage, "bytes">): number {
    if (costOf(message.type).excess === "follows") return 0;
    const now = this.#ports.now();
    const { work, broadcasts } = this.limits.ofUser(userId);
    const affordableIn = work.affordableIn(now);
    if (message.type === "BROADCAST")
      return Math.max(affordableIn, broadcasts.affordableIn(now), this.#broadcasts.affordableIn(now));
    if (!costOf(message.type).isQuestion) return affordableIn;
    return Math.max(affordableIn, this.#ports.answerableIn(id) ?? LOOK_AGAIN_MS);
  }

  #spend(userId: string, message: SocketMessage): void {
    const points = pointsOf(message);
    if (points > 0) this.limits.ofUser(userId).work.spend(points, this.#ports.now());
  }

  /** Counts what a user's message has delivered. */
  countDelivery(userId: string, points: number, isBroadcast: boolean): void {
    const now = this.#ports.now();
    const { work, broadcasts } = this.limits.ofUser(userId);
    for (const bucket of isBroadcast ? [work, broadcasts, this.#broadcasts] : [work])
      bucket.spend(points, now);
  }

  /** Takes the next message that may run; null when none may yet. */
  next(): { readonly id: string; readonly message: SocketMessage } | null {
    const isOpen = (id: string) => this.#connections.get(id) !== undefined;
    const isReady = (waiting: WaitingMessage) => !isOpen(waiting.id) || this.#runnableIn(waiting) === 0;
    for (let found = this.#waiting.take(isReady); found; found = this.#waiting.take(isReady)) {
      if (isOpen(found.id)) {
        this.limits.release(found.userId, found.bytes);
        this.#spend(found.userId, found.message);
        return found;
      }
      for (const { userId, bytes } of [found, ...this.#waiting.takeOf(found.id)])
        this.limits.release(userId, bytes);
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
}

const isLarge = ({ message }: WaitingMessage): boolean => costOf(message.type).isQuestion;
const isBroadcast = ({ message }: WaitingMessage): boolean => message.type === "BROADCAST";
