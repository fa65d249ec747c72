/** Lets messages run at the pace that their users can afford: the others wait, are refused, or close their socket. */
import { TokenBucket } from "../../platform/flow/token-bucket.ts";
import {
  BROADCASTS_OF_ROOM,
  costOf,
  MAX_WAITING_OF_SOCKET,
  type PacedMessage,
  pointsOf,
  WORK_OF_USER,
} from "../protocol/costs.ts";
import type { Joined } from "../transport/connection.ts";
import type { Connections } from "../transport/connections.ts";
import { PacingBudgets } from "./pacing-budgets.ts";

export interface PacingPorts {
  now(): number;
  /** Milliseconds until the socket may be sent another answer; null when its client has to read first. */
  answerableIn(id: string): number | null;
}

interface WaitingMessage {
  readonly message: PacedMessage;
  readonly bytes: number;
}

/** How long to wait for a client that has to read first, before looking again. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Memory only: nothing waits any more long before the object may hibernate. A waiting message that a crash loses is one
 * that was not answered.
 */
export class Pacing {
  readonly #ports: PacingPorts;
  readonly #connections: Connections;
  /** What sockets and users may still send and ask. */
  readonly budgets: PacingBudgets;
  /** By socket, each in its order; the socket whose turn is next comes first. No queue is empty. */
  readonly #waiting = new Map<string, { readonly userId: string; readonly queue: WaitingMessage[] }>();
  readonly #broadcasts: TokenBucket;

  constructor(ports: PacingPorts, connections: Connections) {
    this.#ports = ports;
    this.#connections = connections;
    this.budgets = new PacingBudgets(() => ports.now(), connections);
    this.#broadcasts = new TokenBucket(BROADCASTS_OF_ROOM, ports.now());
  }

  /** What happens to a message of a joined socket; one that waits is kept for {@link next}. */
  admit({ id, userId }: Joined, message: PacedMessage, bytes: number): "run" | "wait" | "refuse" | "close" {
    const { excess, isQuestion } = costOf(message.type);
    const waiting = this.#waiting.get(id);
    if (excess === "runs" || (excess === "follows" && waiting === undefined)) {
      this.#spend(userId, message);
      return "run";
    }
    if (waiting === undefined && excess === "refused") return this.canBroadcast(userId) ? "run" : "refuse";
    if (waiting === undefined && this.#runnableIn(id, userId, message) === 0) {
      this.#spend(userId, message);
      return "run";
    }
    // A broadcast must not overtake the writes before it.
    const isAlike = isQuestion ? isLarge : excess === "refused" ? isBroadcast : () => false;
    if ((waiting?.queue.filter(isAlike).length ?? 0) >= MAX_WAITING_OF_SOCKET) return "refuse";
    if (!this.budgets.reserve(userId, bytes)) return "close";
    if (waiting === undefined) this.#waiting.set(id, { userId, queue: [{ message, bytes }] });
    else waiting.queue.push({ message, bytes });
    return "wait";
  }

  /** True while a user, and the room as a whole, may broadcast. */
  canBroadcast(userId: string): boolean {
    const budgets = [this.budgets.accountOf(userId).broadcasts, this.#broadcasts];
    return this.canAfford(userId) && budgets.every((budget) => budget.left(this.#ports.now()) > 0);
  }

  /** True while a user may ask more of the room. */
  canAfford(userId: string): boolean {
    return this.budgets.accountOf(userId).work.left(this.#ports.now()) > 0;
  }

  /** Charges a user's message over REST, which cannot wait; false while the user owes a whole burst. */
  charge(userId: string, message: PacedMessage): boolean {
    const isAffordable = this.budgets.accountOf(userId).work.left(this.#ports.now()) > -WORK_OF_USER.burst;
    if (isAffordable) this.#spend(userId, message);
    return isAffordable;
  }

  #runnableIn(id: string, userId: string, message: PacedMessage): number {
    if (costOf(message.type).excess === "follows") return 0;
    const now = this.#ports.now();
    const { work, broadcasts } = this.budgets.accountOf(userId);
    const affordableIn = work.affordableIn(now);
    if (message.type === "BROADCAST")
      return Math.max(affordableIn, broadcasts.affordableIn(now), this.#broadcasts.affordableIn(now));
    if (!costOf(message.type).isQuestion) return affordableIn;
    return Math.max(affordableIn, this.#ports.answerableIn(id) ?? LOOK_AGAIN_MS);
  }

  #spend(userId: string, message: PacedMessage): void {
    const points = pointsOf(message);
    if (points > 0) this.budgets.accountOf(userId).work.spend(points, this.#ports.now());
  }

  /** Counts what a user's message has delivered. */
  countDelivery(userId: string, points: number, isBroadcast: boolean): void {
    const now = this.#ports.now();
    const { work, broadcasts } = this.budgets.accountOf(userId);
    for (const budget of isBroadcast ? [work, broadcasts, this.#broadcasts] : [work])
      budget.spend(points, now);
  }

  /** Takes the next message that may run; null when none may yet. Sockets take turns. */
  next(): { readonly id: string; readonly message: PacedMessage } | null {
    for (const [id, { userId, queue }] of this.#waiting) {
      if (this.#connections.get(id) === undefined) {
        this.#drop(id);
        continue;
      }
      const [head] = queue;
      if (head === undefined || this.#runnableIn(id, userId, head.message) > 0) continue;
      queue.shift();
      this.budgets.release(userId, head.bytes);
      this.#waiting.delete(id);
      if (queue.length > 0) this.#waiting.set(id, { userId, queue });
      this.#spend(userId, head.message);
      return { id, message: head.message };
    }
    return null;
  }

  #drop(id: string): void {
    const waiting = this.#waiting.get(id);
    for (const { bytes } of waiting?.queue ?? []) this.budgets.release(waiting?.userId ?? "", bytes);
    this.#waiting.delete(id);
  }

  /** Milliseconds until a waiting message may run; null when none waits. */
  nextIn(): number | null {
    let soonest: number | null = null;
    for (const [id, { userId, queue }] of this.#waiting) {
      const [head] = queue;
      if (head === undefined) continue;
      soonest = Math.min(soonest ?? LOOK_AGAIN_MS, this.#runnableIn(id, userId, head.message));
    }
    return soonest;
  }
}

const isLarge = ({ message }: WaitingMessage): boolean => costOf(message.type).isQuestion;
const isBroadcast = ({ message }: WaitingMessage): boolean => message.type === "BROADCAST";
