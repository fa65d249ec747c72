/** `client.presence`: what users show of themselves right now, such as where their cursor is. */
import { guard, report } from "../../core/emitter.ts";
import { AtriumError, invalid } from "../../core/error.ts";
import { byteLength, isRecord, toJson } from "../../core/json.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { PresenceState } from "../../wire/resources.ts";
import type { Connection } from "../connection/connection.ts";
import type { Users } from "../users/users.ts";
import { Throttle } from "./throttle.ts";

const UPDATE_INTERVAL_MS = 50;
const MAX_STATE_BYTES = 8 * 1024;

const EVERYBODY = "*";
const FOLLOWED = "following";

/** `state` is null for a user who shows nothing any more. */
export interface PresenceUpdate {
  readonly userId: string;
  readonly state: PresenceState | null;
}

type Listener = (update: PresenceUpdate) => void;

export class Presence {
  readonly #session: Connection;
  readonly #users: Users;
  readonly #userId: string;
  readonly #throttle: Throttle;
  readonly #listeners = new Map<string, Set<Listener>>();
  #states: ReadonlyMap<string, PresenceState> = new Map();
  /** Of whom this connection has told. */
  #told = new Set<string>();
  /** What oneself shows; undefined before the first update. */
  #own: PresenceState | null | undefined;

  constructor(session: Connection, users: Users, userId: string, surroundings: Runtime) {
    this.#session = session;
    this.#users = users;
    this.#userId = userId;
    this.#throttle = new Throttle(surroundings, UPDATE_INTERVAL_MS, () => this.#send());
    session.feed.hear("presence", ({ updates }) => this.#receive(readUpdates(updates)));
    session.feed.onJoined(() => this.#enter());
    users.on("userFollowed", ({ followerId }) => this.#refollow(followerId));
    users.on("userUnfollowed", ({ userId, followerId }) => this.#unfollow(userId, followerId));
  }

  /**
   * Shows `state` from now on, or nothing with null. Sent at most every 50 ms, the latest alone; while there is
   * no connection, it waits for the next. Throws VALIDATION_ERROR unless it is a JSON object of at most 8 KiB.
   */
  update(state: PresenceState | null): void {
    const json = toJson(state, "Presence");
    if (byteLength(json) > MAX_STATE_BYTES)
      throw invalid("Presence", `A state has at most ${MAX_STATE_BYTES} bytes`);
    const copy: unknown = JSON.parse(json);
    if (copy !== null && !isRecord(copy)) throw invalid("Presence", "A state is a JSON object or null");
    this.#own = copy;
    if (this.#session.requests.isConnected) this.#throttle.call();
  }

  #send(): void {
    if (this.#own !== undefined) this.#session.requests.tell("PRESENCE_UPDATE", { state: this.#own });
  }

  /** Lets go of an update that waits for its turn. */
  rest(): void {
    this.#throttle.stop();
  }

  /**
   * Tells `listener` the states of some users, those of now and each new one: `*` stands for everybody, oneself
   * included, `following` for those whom one follows, and a user's id for that user.
   * @returns the function that ends it
   */
  sync(target: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(target);
    if (listeners === undefined) {
      this.#listeners.set(target, new Set([listener]));
      void this.#subscribe(target, true);
    } else {
      listeners.add(listener);
      // Later, as for the first one, whom the service tells.
      queueMicrotask(() => {
        for (const [userId, state] of this.#states) {
          if (listeners.has(listener) && this.#isAbout(target, userId))
            guard(() => listener({ userId, state }));
        }
      });
    }
    return () => this.#drop(target, listener);
  }

  /** Ends all that was begun for one target, or for all. */
  unsync(target?: string): void {
    for (const begun of target === undefined ? [...this.#listeners.keys()] : [target]) {
      this.#listeners.get(begun)?.clear();
      this.#drop(begun);
    }
  }

  /** The states of those who were asked for, by user id: the same map until something changes. */
  getStates(): ReadonlyMap<string, PresenceState> {
    return this.#states;
  }

  #drop(target: string, listener?: Listener): void {
    const listeners = this.#listeners.get(target);
    if (listeners === undefined) return;
    if (listener !== undefined) listeners.delete(listener);
    if (listeners.size > 0) return;
    this.#listeners.delete(target);
    void this.#subscribe(target, false);
    this.#prune();
  }

  /** Asks the service to tell, or to tell no more. Without a connection, the next one begins with it. */
  async #subscribe(target: string, on: boolean): Promise<void> {
    const { requests } = this.#session;
    if (!requests.isConnected) return;
    try {
      await requests.ask("PRESENCE_SUBSCRIBE", { target, on }, { resend: false, take: () => {} });
    } catch (error) {
      if (!(error instanceof AtriumError && error.code === "DISCONNECTED")) report(error);
    }
  }

  #isAbout(target: string, userId: string): boolean {
    if (target === FOLLOWED) return this.#users.all.get(this.#userId)?.following.includes(userId) ?? false;
    return target === EVERYBODY || target === userId;
  }

  #receive(updates: readonly PresenceUpdate[]): void {
    const states = new Map(this.#states);
    const targets = [...this.#listeners.keys()];
    const heard = updates.filter(({ userId }) => targets.some((target) => this.#isAbout(target, userId)));
    for (const { userId, state } of heard) {
      this.#told.add(userId);
      if (state === null) states.delete(userId);
      else states.set(userId, state);
    }
    if (heard.length > 0) this.#states = states;
    for (const update of heard) {
      for (const target of targets) if (this.#isAbout(target, update.userId)) this.#tell(target, update);
    }
  }

  #tell(target: string, update: PresenceUpdate): void {
    const listeners = this.#listeners.get(target);
    for (const listener of [...(listeners ?? [])]) {
      if (listeners?.has(listener)) guard(() => listener(update));
    }
  }

  /** Forgets the states that nobody asks for any more. */
  #prune(): void {
    const targets = [...this.#listeners.keys()];
    const kept = [...this.#states].filter(([id]) => targets.some((target) => this.#isAbout(target, id)));
    if (kept.length < this.#states.size) this.#states = new Map(kept);
  }

  /** The service does not know what an earlier connection showed and asked for; what it does not tell is over. */
  async #enter(): Promise<void> {
    const told = new Set<string>();
    this.#told = told;
    this.#send();
    await Promise.all([...this.#listeners.keys()].map((target) => this.#subscribe(target, true)));
    if (this.#told !== told || !this.#session.requests.isConnected) return;
    const over = [...this.#states.keys()].filter((userId) => !told.has(userId));
    this.#receive(over.map((userId) => ({ userId, state: null })));
  }

  /** The state of somebody newly followed is told when it changes, or when one asks again. */
  #refollow(followerId: string): void {
    if (followerId === this.#userId && this.#listeners.has(FOLLOWED)) void this.#subscribe(FOLLOWED, true);
  }

  #unfollow(userId: string, followerId: string): void {
    if (followerId !== this.#userId) return;
    const wasShown = this.#states.has(userId);
    this.#prune();
    if (wasShown) this.#tell(FOLLOWED, { userId, state: null });
  }
}

/** The updates that are ones. */
function readUpdates(updates: unknown): PresenceUpdate[] {
  return (Array.isArray(updates) ? updates : []).flatMap((update) => {
    const [userId, state] = Array.isArray(update) ? update : [];
    if (typeof userId !== "string" || (state !== null && !isRecord(state))) return [];
    return [{ userId, state }];
  });
}
