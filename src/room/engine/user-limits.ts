/** Limits of the users and sockets in a room: token buckets of what they send, pauses after floods, and bounds of what waits. */
import { backoffMs } from "../../platform/flow/backoff.ts";
import { KeyedLimits, TokenBucket } from "../../platform/flow/token-bucket.ts";
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

class UserLimits {
  /** Smaller while a flood is remembered, as `joins`. */
  frames: TokenBucket;
  joins: TokenBucket;
  readonly work: TokenBucket;
  /** Spent beside `work`. */
  readonly broadcasts: TokenBucket;
  /** Floods in a row, and when the user may join again after them (epoch ms). */
  floods = 0;
  pausedUntil = Number.NEGATIVE_INFINITY;
  waitingMessages = 0;
  waitingBytes = 0;

  constructor(now: number) {
    this.frames = new TokenBucket(FRAMES_OF_USER, now);
    this.joins = new TokenBucket(JOINS_OF_USER, now);
    this.work = new TokenBucket(WORK_OF_USER, now);
    this.broadcasts = new TokenBucket(BROADCASTS_OF_USER, now);
  }

  /** True when new limits would say the same. */
  isFull(now: number): boolean {
    const buckets = [this.frames, this.joins, this.work, this.broadcasts];
    const isForgiven = now > this.pausedUntil + FLOOD_FORGET_MS;
    return isForgiven && this.waitingMessages === 0 && buckets.every((bucket) => bucket.isFull(now));
  }

  /** Forgets floods that are long past. */
  forgive(now: number): void {
    if (this.floods === 0 || now <= this.pausedUntil + FLOOD_FORGET_MS) return;
    this.floods = 0;
    this.frames = new TokenBucket(FRAMES_OF_USER, now);
    this.joins = new TokenBucket(JOINS_OF_USER, now);
  }
}

/** Memory only: all limits are full again long before the object may hibernate. */
export class RoomLimits {
  readonly #now: () => number;
  readonly #frames = new KeyedLimits((now) => new TokenBucket(FRAMES_OF_SOCKET, now));
  readonly #users = new KeyedLimits((now) => new UserLimits(now));

  constructor(now: () => number) {
    this.#now = now;
  }

  ofUser(userId: string): UserLimits {
    const now = this.#now();
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
    const now = this.#now();
    const ofSocket = this.#frames.of(id, now).spend(frames, now);
    const ofUser = this.ofUser(userId).frames.spend(frames, now);
    return ofSocket >= 0 && ofUser >= 0;
  }

  /** A user's socket is closed for flooding: the user may join again after a pause, which grows with each flood. */
  recordFlood(userId: string): void {
    const now = this.#now();
    const user = this.ofUser(userId);
    if (now < user.pausedUntil) return; // another socket of the same flood
    user.frames = new TokenBucket(FRAMES_AFTER_FLOOD, now);
    user.frames.spend(FRAMES_AFTER_FLOOD.burst, now);
    user.joins = new TokenBucket(JOINS_AFTER_FLOOD, now);
    user.floods += 1;
    user.pausedUntil = now + backoffMs(user.floods, FLOOD_PAUSE);
  }

  /** Counts an attempt to join with the user's token. False when it comes too soon. */
  countJoin(userId: string): boolean {
    const now = this.#now();
    const { joins, pausedUntil } = this.ofUser(userId);
    const isAllowed = now >= pausedUntil && joins.left(now) > 0;
    if (isAllowed) joins.spend(1, now);
    return isAllowed;
  }

  /** Counts a message that waits. False when its user has too many already. */
  reserve(userId: string, bytes: number): boolean {
    const user = this.ofUser(userId);
    if (user.waitingMessages >= MAX_WAITING_MESSAGES || user.waitingBytes + bytes > MAX_WAITING_BYTES)
      return false;
    user.waitingMessages += 1;
    user.waitingBytes += bytes;
    return true;
  }

  /** A message that was counted waits no longer. */
  release(userId: string, bytes: number): void {
    const user = this.ofUser(userId);
    user.waitingMessages -= 1;
    user.waitingBytes -= bytes;
  }
}
