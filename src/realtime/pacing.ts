/** Lets messages run at the pace that their users can afford: the others wait, are refused, or close their socket. */
import { Budget } from "../platform/budget.ts";
import {
  BROADCASTS_OF_ROOM,
  costOf,
  FLOOD_FORGET_MS,
  FLOOD_PAUSE,
  FRAMES_OF_SOCKET,
  FRAMES_OF_USER,
  framesOf,
  JOINS_OF_USER,
  MAX_WAITING_BYTES,
  MAX_WAITING_MESSAGES,
  MAX_WAITING_OF_SOCKET,
  type PacedMessage,
  pointsOf,
  WORK_OF_USER,
} from "./protocol/costs.ts";
import type { Joined } from "./transport/connection.ts";
import type { Connections } from "./transport/connections.ts";

export interface PacingPorts {
  now(): number;
  /** Milliseconds until the socket may be sent another answer; null when its client has to read first. */
  answerableIn(id: string): number | null;
}

interface WaitingMessage {
  readonly message: PacedMessage;
  readonly bytes: number;
}

/** What one user may spend, and what waits of it. */
interface Account {
  readonly frames: Budget;
  readonly work: Budget;
  readonly joins: Budget;
  /** After how many floods in a row the user may join again, and when (epoch ms). */
  floods: number;
  pausedUntil: number;
  waitingMessages: number;
  waitingBytes: number;
}

/** How long to wait for a client that has to read first, before looking again. */
const LOOK_AGAIN_MS = 1_000;
/** Accounts of users who are gone are kept until they are full again; from this many on, they are looked through. */
const MANY_ACCOUNTS = 1_000;
/** Budgets of sockets that are gone are looked through when there are more than these, and twice those that are open. */
const MANY_SOCKETS = 100;

/**
 * Memory only: budgets are full again, and nothing waits any more, long before the object may hibernate. A waiting
 * message that a crash loses is one that was not answered.
 */
export class Pacing {
  readonly #ports: PacingPorts;
  readonly #connections: Connections;
  readonly #frames = new Map<string, Budget>();
  readonly #accounts = new Map<string, Account>();
  /** By socket, each in its order; the socket whose turn is next comes first. No queue is empty. */
  readonly #waiting = new Map<string, { readonly userId: string; readonly queue: WaitingMessage[] }>();
  readonly #broadcasts: Budget;

  constructor(ports: PacingPorts, connections: Connections) {
    this.#ports = ports;
    this.#connections = connections;
    this.#broadcasts = new Budget(BROADCASTS_OF_ROOM, ports.now());
  }

  /** Counts a frame. False when its socket, or its user, has sent too many. */
  countFrame({ id, userId }: Joined, bytes: number): boolean {
    const now = this.#ports.now();
    const ofSocket = this.#framesOf(id, now);
    const ofUser = this.#accountOf(userId).frames;
    for (const budget of [ofSocket, ofUser]) budget.spend(framesOf(bytes), now);
    return ofSocket.left(now) >= 0 && ofUser.left(now) >= 0;
  }

  #framesOf(id: string, now: number): Budget {
    const known = this.#frames.get(id);
    if (known !== undefined) return known;
    if (this.#frames.size >= MANY_SOCKETS + 2 * this.#connections.joinedCount) this.#forgetSockets();
    const frames = new Budget(FRAMES_OF_SOCKET, now);
    this.#frames.set(id, frames);
    return frames;
  }

  #forgetSockets(): void {
    for (const id of this.#frames.keys()) {
      if (this.#connections.get(id) === undefined) this.#frames.delete(id);
    }
  }

  #accountOf(userId: string): Account {
    const known = this.#accounts.get(userId);
    if (known !== undefined) return known;
    const now = this.#ports.now();
    if (this.#accounts.size >= MANY_ACCOUNTS) this.#forget(now);
    const account: Account = {
      frames: new Budget(FRAMES_OF_USER, now),
      work: new Budget(WORK_OF_USER, now),
      joins: new Budget(JOINS_OF_USER, now),
      floods: 0,
      pausedUntil: Number.NEGATIVE_INFINITY,
      waitingMessages: 0,
      waitingBytes: 0,
    };
    this.#accounts.set(userId, account);
    return account;
  }

  #forget(now: number): void {
    for (const [userId, { frames, work, joins, pausedUntil, waitingMessages }] of this.#accounts) {
      const isFull = [frames, work, joins].every((budget) => budget.isFull(now));
      const isIdle = isFull && waitingMessages === 0 && now > pausedUntil + FLOOD_FORGET_MS;
      if (isIdle && !this.#connections.hasUser(userId)) this.#accounts.delete(userId);
    }
  }

  /** A user's socket is closed for flooding: a further one joins after a pause, which grows with each flood. */
  recordFlood(userId: string): void {
    const now = this.#ports.now();
    const account = this.#accountOf(userId);
    if (now < account.pausedUntil) return; // another socket of the same flood
    if (now > account.pausedUntil + FLOOD_FORGET_MS) account.floods = 0;
    account.pausedUntil = now + Math.min(FLOOD_PAUSE.maxMs, FLOOD_PAUSE.firstMs * 2 ** account.floods);
    account.floods += 1;
  }

  /** Counts an attempt to join with the user's token. False when it comes too soon. */
  countJoin(userId: string): boolean {
    const now = this.#ports.now();
    const { joins, pausedUntil } = this.#accountOf(userId);
    const isAllowed = now >= pausedUntil && joins.left(now) > 0;
    if (isAllowed) joins.spend(1, now);
    return isAllowed;
  }

  /** What happens to a message of a joined socket; one that waits is kept for {@link next}. */
  admit({ id, userId }: Joined, message: PacedMessage, bytes: number): "run" | "wait" | "refuse" | "close" {
    const { excess, isQuestion } = costOf(message.type);
    if (excess === "runs") {
      this.#spend(userId, message);
      return "run";
    }
    const waiting = this.#waiting.get(id);
    if (waiting === undefined && excess === "refused") return this.canBroadcast(userId) ? "run" : "refuse";
    if (waiting === undefined && this.#runnableIn(id, userId, message) === 0) {
      this.#spend(userId, message);
      return "run";
    }
    // A broadcast must not overtake the writes before it.
    const isAlike = isQuestion ? isLarge : excess === "refused" ? isBroadcast : () => false;
    if ((waiting?.queue.filter(isAlike).length ?? 0) >= MAX_WAITING_OF_SOCKET) return "refuse";
    const account = this.#accountOf(userId);
    account.waitingMessages += 1;
    account.waitingBytes += bytes;
    if (account.waitingMessages > MAX_WAITING_MESSAGES || account.waitingBytes > MAX_WAITING_BYTES) {
      account.waitingMessages -= 1;
      account.waitingBytes -= bytes;
      return "close";
    }
    if (waiting === undefined) this.#waiting.set(id, { userId, queue: [{ message, bytes }] });
    else waiting.queue.push({ message, bytes });
    return "wait";
  }

  /** True while a user, and the room as a whole, may broadcast. */
  canBroadcast(userId: string): boolean {
    return this.canAfford(userId) && this.#broadcasts.left(this.#ports.now()) > 0;
  }

  /** True while a user may ask more of the room. */
  canAfford(userId: string): boolean {
    return this.#accountOf(userId).work.left(this.#ports.now()) > 0;
  }

  #runnableIn(id: string, userId: string, message: PacedMessage): number {
    const now = this.#ports.now();
    const affordableIn = this.#accountOf(userId).work.affordableIn(now);
    if (message.type === "BROADCAST") return Math.max(affordableIn, this.#broadcasts.affordableIn(now));
    if (!costOf(message.type).isQuestion) return affordableIn;
    return Math.max(affordableIn, this.#ports.answerableIn(id) ?? LOOK_AGAIN_MS);
  }

  #spend(userId: string, message: PacedMessage): void {
    this.#accountOf(userId).work.spend(pointsOf(message), this.#ports.now());
  }

  /** Counts what a user's message has delivered. */
  countDelivery(userId: string, points: number, isBroadcast: boolean): void {
    const now = this.#ports.now();
    this.#accountOf(userId).work.spend(points, now);
    if (isBroadcast) this.#broadcasts.spend(points, now);
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
      this.#release(userId, head);
      this.#waiting.delete(id);
      if (queue.length > 0) this.#waiting.set(id, { userId, queue });
      this.#spend(userId, head.message);
      return { id, message: head.message };
    }
    return null;
  }

  #drop(id: string): void {
    const waiting = this.#waiting.get(id);
    for (const message of waiting?.queue ?? []) this.#release(waiting?.userId ?? "", message);
    this.#waiting.delete(id);
  }

  #release(userId: string, { bytes }: WaitingMessage): void {
    const account = this.#accountOf(userId);
    account.waitingMessages -= 1;
    account.waitingBytes -= bytes;
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
