/** `client.presence`: the current state of each user, such as the position of a cursor. */
import { callEach, Emitter, getOrAdd, guard, report } from "../core/emitter.ts";
import { invalid } from "../core/error.ts";
import { assumeType, frozen, isRecord } from "../core/json.ts";
import type { Runtime } from "../core/runtime.ts";
import type { PresenceState } from "../wire/resources.ts";
import type { Connection } from "./connection/connection.ts";
import { listOf, NOTICE_REFUSED } from "./connection/frames.ts";
import { OwnPresence, type RefusedField } from "./own-presence.ts";
import type { Users } from "./users.ts";

const UPDATE_INTERVAL_MS = 50;
const BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;

/** Limit of the service for one socket (R48). */
const MAX_TARGETS = 100;

const EVERYONE = "*";
const FOLLOWED = "following";

/** The presence of a user: some of the fields of `Shown`, and a color that the service adds unless the user sets one. */
export type PresenceOf<Shown extends object = PresenceState> = Readonly<Partial<Shown>> & {
  readonly color: string;
};

/** Fields to change: undefined fields are removed, and absent fields stay as they are. */
export type PresencePart<Shown extends object = PresenceState> = {
  readonly [Name in keyof Shown]?: Shown[Name] | undefined;
};

/** `state` is null for a user who no longer has one. */
export interface PresenceUpdate<Shown extends object = PresenceState> {
  readonly userId: string;
  readonly state: PresenceOf<Shown> | null;
}

export interface PresenceEvents {
  /** {@link Presence.own} is a new object. */
  updated: undefined;
  /** A field is too large or not JSON: it stays as it was, and the other fields of the update are shown. */
  error: RefusedField;
}

type Listener = (update: PresenceUpdate) => void;

/** `Shown` is the application's presence. It is not checked: other clients can show anything. */
export class Presence<Shown extends object = PresenceState> extends Emitter<PresenceEvents> {
  readonly #connection: Connection;
  readonly #users: Users;
  readonly #mayShow: () => boolean;
  readonly #reportFailed: (error: unknown) => void;
  readonly #throttle: Throttle;
  readonly #runtime: Runtime;
  #tickMs = 0;
  /** The interval of updates that no other connection sees; 0 while one does. */
  #unseenMs = 0;
  #retryAt = -Infinity;
  #backoffMs = UPDATE_INTERVAL_MS;
  readonly #refusedFields = new Set<string>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #own = new OwnPresence();
  #states: ReadonlyMap<string, PresenceOf> = new Map();
  /** User ids by the numbers of the room. */
  readonly #numbered = new Map<unknown, unknown>();
  /** Users with states of an earlier connection only. */
  #stale = new Set<string>();

  constructor(
    connection: Connection,
    users: Users,
    mayShow: () => boolean,
    runtime: Runtime,
    reportFailed: (error: unknown) => void,
  ) {
    super();
    this.#reportFailed = reportFailed;
    this.#connection = connection;
    this.#users = users;
    this.#mayShow = mayShow;
    this.#runtime = runtime;
    const intervalMs = () => Math.max(UPDATE_INTERVAL_MS, this.#tickMs, this.#unseenMs);
    this.#throttle = new Throttle(runtime, intervalMs, () => this.#send());
    connection.changeStream.handle("presence", ({ updates, every = 0 }) => {
      if (listOf(updates, Array.isArray).length > 0) this.#tickMs = assumeType(every);
      else this.#paceUnseen(assumeType(every));
      this.#receive(updates);
    });
    connection.changeStream.onJoined(() => this.#joined());
    connection.requests.onStopped(() =>
      this.#receive([...this.#states.keys()].map((userId) => [userId, null])),
    );
    connection.changeStream.handle(NOTICE_REFUSED, () => this.#refused());
    users.on("userFollowed", ({ followerId }) => this.#followed(followerId));
    users.on("userUnfollowed", ({ userId, followerId }) => this.#unfollowed(userId, followerId));
  }

  /** Your presence from this client, before it is sent: the same object until it changes. */
  get own(): Readonly<Partial<Shown>> {
    return assumeType(this.#own.visible);
  }

  /**
   * Changes some fields of your presence; undefined removes a field, and null as `part` removes all. Changes are sent together,
   * at most every 50 ms, or every 10 s while no one else sees them, and again after a reconnection. Fields above 8 KiB in all,
   * or not JSON, stay as they were and emit `error`.
   */
  update(part: PresencePart<Shown> | null): void {
    if (part !== null && !isRecord(part)) throw invalid("Presence", "part must be an object or null");
    const before = this.#own.visible;
    const refused = part === null ? [] : this.#own.change(part);
    if (part === null) this.#own.clear();
    if (this.#connection.requests.isConnected) this.#throttle.call();
    if (this.#own.visible !== before) this.emit("updated", undefined);
    const news = refused.filter(({ field }) => !this.#refusedFields.has(field));
    for (const field of Object.keys(part ?? {})) this.#refusedFields.delete(field);
    for (const { field } of refused) this.#refusedFields.add(field);
    for (const field of news) {
      if (this.hasListeners("error")) this.emit("error", field);
      else report(field.error);
    }
  }

  /** Sends what waits at once, unless the room has refused it. */
  #paceUnseen(intervalMs: number): void {
    this.#unseenMs = intervalMs;
    if (this.#runtime.now() >= this.#retryAt) this.#throttle.endWait();
  }

  /** Changes wait for the permission. */
  #send(): void {
    if (!this.#mayShow()) return;
    const update = this.#own.takeUpdate();
    if (update !== null) this.#connection.requests.notify("PRESENCE_UPDATE", update);
  }

  /** The room refused an update: no other message of this client lacks a request id. */
  #refused(): void {
    this.#own.replaceRoomState();
    const now = this.#runtime.now();
    if (now < this.#retryAt) return; // refusals of earlier states
    if (now > this.#retryAt + MAX_BACKOFF_MS) this.#backoffMs = UPDATE_INTERVAL_MS;
    this.#retryAt = now + this.#backoffMs;
    this.#throttle.postpone(this.#backoffMs);
    this.#backoffMs = Math.min(Math.max(2 * this.#backoffMs, BACKOFF_MS), MAX_BACKOFF_MS);
  }

  /** Called by the client: the permission may be there now. */
  resume(): void {
    this.#throttle.call();
  }

  stop(): void {
    this.#throttle.stop();
  }

  /**
   * Calls `listener` with the current state of users, and with each new one. `target` is `*`, `following`, or a user's id.
   * Throws VALIDATION_ERROR above 100 targets; the client's event `error` has what the service refuses.
   * @returns a function that removes the listener
   */
  sync(target: string, listener: (update: PresenceUpdate<Shown>) => void): () => void {
    const added: Listener = assumeType(listener);
    const isFirst = !this.#listeners.has(target);
    if (isFirst && this.#listeners.size === MAX_TARGETS)
      throw invalid("Presence", `target: at most ${MAX_TARGETS} can be synced`);
    const listeners = getOrAdd(this.#listeners, target, () => new Set());
    listeners.add(added);
    if (isFirst) void this.#subscribe(target, true);
    // Asynchronously, as for the first listener, which waits for the service.
    else
      queueMicrotask(() => {
        for (const [userId, state] of this.#states) {
          if (listeners.has(added) && this.#includes(target, userId)) guard(() => added({ userId, state }));
        }
      });
    return () => this.#remove(target, added);
  }

  /** Removes all listeners of one target, or of all targets. */
  unsync(target?: string): void {
    for (const synced of target === undefined ? [...this.#listeners.keys()] : [target]) {
      this.#listeners.get(synced)?.clear();
      this.#remove(synced);
    }
  }

  /** The states of all synced users by id: the same map until one of them changes. */
  getStates(): ReadonlyMap<string, PresenceOf<Shown>> {
    return assumeType(this.#states);
  }

  #remove(target: string, listener?: Listener): void {
    const listeners = this.#listeners.get(target);
    if (listeners === undefined) return;
    if (listener !== undefined) listeners.delete(listener);
    if (listeners.size > 0) return;
    this.#listeners.delete(target);
    void this.#subscribe(target, false);
    this.#prune();
  }

  async #subscribe(target: string, on: boolean): Promise<void> {
    const { requests } = this.#connection;
    if (!requests.isConnected) return;
    await requests
      .send("PRESENCE_SUBSCRIBE", { target, on, numbers: true }, { resend: false, read: () => {} })
      .catch(this.#reportFailed);
  }

  #includes(target: string, userId: string): boolean {
    if (target === FOLLOWED)
      return this.#users.all.get(this.#connection.userId)?.following.includes(userId) ?? false;
    return target === EVERYONE || target === userId;
  }

  #receive(updates: unknown): void {
    const states = new Map(this.#states);
    const relevant = listOf(updates, Array.isArray).flatMap(([who, shown, number]): PresenceUpdate[] => {
      const userId = this.#numbered.get(who) ?? who;
      this.#numbered.set(number, userId); // updates without a number set an entry that is never read
      const known = states.get(userId);
      const isLate = userId !== who && !known; // synced anew: all of the state follows
      if (isLate || typeof userId !== "string" || (shown !== null && !isRecord(shown))) return [];
      if (!this.#isSynced(userId)) return [];
      this.#stale.delete(userId);
      // A number brings no known color.
      const state: PresenceOf | null = assumeType(shown && { color: known?.color, ...shown });
      if (state === null) states.delete(userId);
      else states.set(userId, frozen(state));
      return [{ userId, state }];
    });
    if (relevant.length > 0) this.#states = states;
    for (const update of relevant) {
      for (const [target, listeners] of [...this.#listeners])
        if (this.#includes(target, update.userId)) callEach(listeners, update);
    }
  }

  #isSynced(userId: string): boolean {
    return [...this.#listeners.keys()].some((target) => this.#includes(target, userId));
  }

  #prune(): void {
    const kept = [...this.#states].filter(([userId]) => this.#isSynced(userId));
    if (kept.length < this.#states.size) this.#states = new Map(kept);
  }

  /** Sends state and subscriptions over a new connection; states that it does not bring are gone. */
  async #joined(): Promise<void> {
    const stale = new Set(this.#states.keys());
    this.#stale = stale;
    this.#own.sendAgain();
    this.#send();
    this.#paceUnseen(0);
    await Promise.all([...this.#listeners.keys()].map((target) => this.#subscribe(target, true)));
    if (this.#stale === stale && this.#connection.requests.isConnected)
      this.#receive([...stale].map((userId) => [userId, null]));
  }

  #followed(followerId: string): void {
    if (followerId === this.#connection.userId && this.#listeners.has(FOLLOWED))
      void this.#subscribe(FOLLOWED, true);
  }

  #unfollowed(userId: string, followerId: string): void {
    if (followerId !== this.#connection.userId) return;
    const hadState = this.#states.has(userId);
    this.#prune();
    if (hadState) callEach(this.#listeners.get(FOLLOWED), { userId, state: null });
  }
}

/** Runs an action at once, and then at most once in each interval. */
class Throttle {
  readonly #runtime: Runtime;
  readonly #intervalMs: () => number;
  readonly #action: () => void;
  #cancel: (() => void) | null = null;
  #isDue = false;

  constructor(runtime: Runtime, intervalMs: () => number, action: () => void) {
    this.#runtime = runtime;
    this.#intervalMs = intervalMs;
    this.#action = action;
  }

  call(): void {
    if (this.#cancel === null) {
      this.#wait(this.#intervalMs());
      this.#action();
    } else this.#isDue = true;
  }

  #wait(delayMs: number): void {
    this.#cancel = this.#runtime.after(delayMs, () => this.endWait());
  }

  endWait(): void {
    const isDue = this.#isDue;
    this.stop();
    if (isDue) this.call();
  }

  postpone(delayMs: number): void {
    this.stop();
    this.#isDue = true;
    this.#wait(delayMs);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#isDue = false;
  }
}
