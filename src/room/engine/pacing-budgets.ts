/** What sockets and users may still send and ask, and what floods and joins have cost them. */
import { TokenBucket } from "../../platform/flow/token-bucket.ts";
import {
  BROADCASTS_OF_USER,
  FLOOD_FORGET_MS,
  FLOOD_PAUSE,
  FRAMES_AFTER_FLOOD,
  FRAMES_OF_SOCKET,
  FRAMES_OF_USER,
  framesOf,
  framesOfRefused,
  JOINS_AFTER_FLOOD,
  JOINS_OF_USER,
  MAX_WAITING_BYTES,
  MAX_WAITING_MESSAGES,
  WORK_OF_USER,
} from "../protocol/costs.ts";
import type { Joined } from "../transport/connection.ts";
import type { Connections } from "../transport/connections.ts";

/** What one user may spend, and what waits of it. */
interface Account {
  /** Smaller while a flood is remembered, as `joins`. */
  frames: TokenBucket;
  readonly work: TokenBucket;
  /** Spent beside `work`. */
  readonly broadcasts: TokenBucket;
  joins: TokenBucket;
  /** After how many floods in a row the user may join again, and when (epoch ms). */
  floods: number;
  pausedUntil: number;
  waitingMessages: number;
  waitingBytes: number;
}

/** Accounts of users who are gone are kept until they are full again; from this many on, they are looked through. */
const MANY_ACCOUNTS = 1_000;
/** Budgets of sockets that are gone are looked through when there are more than these, and twice those that are open. */
const MANY_SOCKETS = 100;

/** Memory only: all budgets are full again long before the object may hibernate. */
export class PacingBudgets {
  readonly #now: () => number;
  readonly #connections: Connections;
  readonly #frames = new Map<string, TokenBucket>();
  readonly #accounts = new Map<string, Account>();

  constructor(now: () => number, connections: Connections) {
    this.#now = now;
    this.#connections = connections;
  }

  /** Counts a frame. False when its socket, or its user, has sent too many. */
  countFrame(connection: Joined, bytes: number): boolean {
    return this.#spendFrames(connection, framesOf(bytes));
  }

  /** A frame that was counted has been read for nothing. Who goes on sending large ones has sent too many (R85). */
  countRefused(connection: Joined, bytes: number): void {
    this.#spendFrames(connection, framesOfRefused(bytes));
  }

  #spendFrames({ id, userId }: Joined, frames: number): boolean {
    const now = this.#now();
    const ofSocket = this.#framesOf(id, now).spend(frames, now);
    const ofUser = this.accountOf(userId).frames.spend(frames, now);
    return ofSocket >= 0 && ofUser >= 0;
  }

  #framesOf(id: string, now: number): TokenBucket {
    const known = this.#frames.get(id);
    if (known !== undefined) return known;
    if (this.#frames.size >= MANY_SOCKETS + 2 * this.#connections.joinedCount) this.#forgetSockets();
    const frames = new TokenBucket(FRAMES_OF_SOCKET, now);
    this.#frames.set(id, frames);
    return frames;
  }

  #forgetSockets(): void {
    for (const id of this.#frames.keys()) {
      if (this.#connections.get(id) === undefined) this.#frames.delete(id);
    }
  }

  /** What a user may spend. */
  accountOf(userId: string): Account {
    const now = this.#now();
    const known = this.#accounts.get(userId);
    if (known !== undefined) return forgive(known, now);
    if (this.#accounts.size >= MANY_ACCOUNTS) this.#forget(now);
    const account: Account = {
      frames: new TokenBucket(FRAMES_OF_USER, now),
      work: new TokenBucket(WORK_OF_USER, now),
      broadcasts: new TokenBucket(BROADCASTS_OF_USER, now),
      joins: new TokenBucket(JOINS_OF_USER, now),
      floods: 0,
      pausedUntil: Number.NEGATIVE_INFINITY,
      waitingMessages: 0,
      waitingBytes: 0,
    };
    this.#accounts.set(userId, account);
    return account;
  }

  #forget(now: number): void {
    for (const [userId, account] of this.#accounts) {
      const { frames, work, broadcasts, joins, pausedUntil, waitingMessages } = account;
      const isFull = [frames, work, broadcasts, joins].every((budget) => budget.isFull(now));
      const isIdle = isFull && waitingMessages === 0 && now > pausedUntil + FLOOD_FORGET_MS;
      if (isIdle && !this.#connections.hasUser(userId)) this.#accounts.delete(userId);
    }
  }

  /** A user's socket is closed for flooding: a further one joins after a pause, which grows with each flood. */
  recordFlood(userId: string): void {
    const now = this.#now();
    const account = this.accountOf(userId);
    if (now < account.pausedUntil) return; // another socket of the same flood
    account.frames = new TokenBucket(FRAMES_AFTER_FLOOD, now);
    account.frames.spend(FRAMES_AFTER_FLOOD.burst, now);
    account.joins = new TokenBucket(JOINS_AFTER_FLOOD, now);
    account.pausedUntil = now + Math.min(FLOOD_PAUSE.maxMs, FLOOD_PAUSE.firstMs * 2 ** account.floods);
    account.floods += 1;
  }

  /** Counts an attempt to join with the user's token. False when it comes too soon. */
  countJoin(userId: string): boolean {
    const now = this.#now();
    const { joins, pausedUntil } = this.accountOf(userId);
    const isAllowed = now >= pausedUntil && joins.left(now) > 0;
    if (isAllowed) joins.spend(1, now);
    return isAllowed;
  }

  /** Counts a message that waits. False when its user has too many already. */
  reserve(userId: string, bytes: number): boolean {
    const account = this.accountOf(userId);
    if (account.waitingMessages >= MAX_WAITING_MESSAGES || account.waitingBytes + bytes > MAX_WAITING_BYTES)
      return false;
    account.waitingMessages += 1;
    account.waitingBytes += bytes;
    return true;
  }

  /** A message that was counted waits no longer. */
  release(userId: string, bytes: number): void {
    const account = this.accountOf(userId);
    account.waitingMessages -= 1;
    account.waitingBytes -= bytes;
  }
}

/** The account, without floods that are long past. */
function forgive(account: Account, now: number): Account {
  if (account.floods > 0 && now > account.pausedUntil + FLOOD_FORGET_MS) {
    account.floods = 0;
    account.frames = new TokenBucket(FRAMES_OF_USER, now);
    account.joins = new TokenBucket(JOINS_OF_USER, now);
  }
  return account;
}
