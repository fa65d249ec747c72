/** `client.presence`: the current state of each user, such as the position of a cursor. */
import { callEach, guard, report } from "../../core/emitter.ts";
import { AtriumError, invalid } from "../../core/error.ts";
import { byteLength, isRecord, toJson } from "../../core/json.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { PresenceState } from "../../wire/resources.ts";
import type { Connection } from "../connection/connection.ts";
import type { Users } from "../users/users.ts";
import { Throttle } from "./throttle.ts";

const UPDATE_INTERVAL_MS = 50;
const MAX_STATE_BYTES = 8 * 1024;

const EVERYONE = "*";
const FOLLOWED = "following";

/** `state` is null for a user who no longer has one. */
export interface PresenceUpdate {
  readonly userId: string;
  readonly state: PresenceState | null;
}

type Listener = (update: PresenceUpdate) => void;

export class Presence {
  readonly #connection: Connection;
  readonly #users: Users;
  readonly #userId: string;
  readonly #throttle: Throttle;
  readonly #listeners = new Map<string, Set<Listener>>();
  #states: ReadonlyMap<string, PresenceState> = new Map();
  /** The users whose states were received over the current connection. */
  #received = new Set<string>();
  /** Your own state; undefined before the first update. */
  #own: PresenceState | null | undefined;

  constructor(connection: Connection, users: Users, userId: string, runtime: Runtime) {
    this.#connection = connection;
    this.#users = users;
    this.#userId = userId;
    this.#throttle = new Throttle(runtime, UPDATE_INTERVAL_MS, () => this.#send());
    connection.changes.handle("presence", ({ updates }) => this.#receive(readUpdates(updates)));
    connection.changes.onJoined(() => this.#joined());
    users.on("userFollowed", ({ followerId }) => this.#followed(followerId));
    users.on("userUnfollowed", ({ userId, followerId }) => this.#unfollowed(userId, followerId));
  }

  /**
   * Sets your state, or removes it with null. The latest state is sent at most every 50 ms, and again after a
   * reconnection. Throws VALIDATION_ERROR unless it is a JSON object of at most 8 KiB.
   */
  update(state: PresenceState | null): void {
    const json = toJson(state, "Presence");
    if (byteLength(json) > MAX_STATE_BYTES)
      throw invalid("Presence", `state must have at most ${MAX_STATE_BYTES} bytes`);
    const copy: unknown = JSON.parse(json);
    if (copy !== null && !isRecord(copy)) throw invalid("Presence", "state must be a JSON object or null");
    this.#own = copy;
    if (this.#connection.requests.isConnected) this.#throttle.call();
  }

  #send(): void {
    if (this.#own !== undefined) this.#connection.requests.notify("PRESENCE_UPDATE", { state: this.#own });
  }

  /** Cancels an update that has not been sent yet. */
  stop(): void {
    this.#throttle.stop();
  }

  /**
   * Calls `listener` with the current state of some users, and with each new one. `target` is `*` for everyone
   * including yourself, `following` for the users that you follow, or the id of one user.
   * @returns a function that removes the listener
   */
  sync(target: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(target);
    if (listeners === undefined) {
      this.#listeners.set(target, new Set([listener]));
      void this.#subscribe(target, true);
    } else {
      listeners.add(listener);
      // Asynchronously, as for the first listener, which waits for the service.
      queueMicrotask(() => {
        for (const [userId, state] of this.#states) {
          if (listeners.has(listener) && this.#includes(target, userId))
            guard(() => listener({ userId, state }));
        }
      });
    }
    return () => this.#remove(target, listener);
  }

  /** Removes all listeners of one target, or of all targets. */
  unsync(target?: string): void {
    for (const synced of target === undefined ? [...this.#listeners.keys()] : [target]) {
      this.#listeners.get(synced)?.clear();
      this.#remove(synced);
    }
  }

  /** The states of all synced users by id: the same map until one of them changes. */
  getStates(): ReadonlyMap<string, PresenceState> {
    return this.#states;
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

  /** Subscribes or unsubscribes. Without a connection there is nothing to do: the next one subscribes anew. */
  async #subscribe(target: string, on: boolean): Promise<void> {
    const { requests } = this.#connection;
    if (!requests.isConnected) return;
    try {
      await requests.send("PRESENCE_SUBSCRIBE", { target, on }, { resend: false, read: () => {} });
    } catch (error) {
      if (!(error instanceof AtriumError && error.code === "DISCONNECTED")) report(error);
    }
  }

  #includes(target: string, userId: string): boolean {
    if (target === FOLLOWED) return this.#users.all.get(this.#userId)?.following.includes(userId) ?? false;
    return target === EVERYONE || target === userId;
  }

  #receive(updates: readonly PresenceUpdate[]): void {
    const states = new Map(this.#states);
    const targets = [...this.#listeners.keys()];
    const relevant = updates.filter(({ userId }) => targets.some((target) => this.#includes(target, userId)));
    for (const { userId, state } of relevant) {
      this.#received.add(userId);
      if (state === null) states.delete(userId);
      else states.set(userId, state);
    }
    if (relevant.length > 0) this.#states = states;
    for (const update of relevant) {
      for (const target of targets)
        if (this.#includes(target, update.userId)) callEach(this.#listeners.get(target), update);
    }
  }

  /** Removes the states of users that are no longer synced. */
  #prune(): void {
    const targets = [...this.#listeners.keys()];
    const kept = [...this.#states].filter(([id]) => targets.some((target) => this.#includes(target, id)));
    if (kept.length < this.#states.size) this.#states = new Map(kept);
  }

  /** Sends state and subscriptions over a new connection; states that it does not bring are gone. */
  async #joined(): Promise<void> {
    const received = new Set<string>();
    this.#received = received;
    this.#send();
    await Promise.all([...this.#listeners.keys()].map((target) => this.#subscribe(target, true)));
    if (this.#received !== received || !this.#connection.requests.isConnected) return;
    const gone = [...this.#states.keys()].filter((userId) => !received.has(userId));
    this.#receive(gone.map((userId) => ({ userId, state: null })));
  }

  /** Subscribing again brings the current state of a user that was followed after the first time. */
  #followed(followerId: string): void {
    if (followerId === this.#userId && this.#listeners.has(FOLLOWED)) void this.#subscribe(FOLLOWED, true);
  }

  #unfollowed(userId: string, followerId: string): void {
    if (followerId !== this.#userId) return;
    const hadState = this.#states.has(userId);
    this.#prune();
    if (hadState) callEach(this.#listeners.get(FOLLOWED), { userId, state: null });
  }
}

/** The valid updates of a list. */
function readUpdates(updates: unknown): PresenceUpdate[] {
  return (Array.isArray(updates) ? updates : []).flatMap((update) => {
    const [userId, state] = Array.isArray(update) ? update : [];
    if (typeof userId !== "string" || (state !== null && !isRecord(state))) return [];
    return [{ userId, state }];
  });
}
