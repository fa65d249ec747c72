/** What users show of themselves right now: in memory only, the latest wins, told in one frame a tick. */
import { AppError } from "../../platform/errors.ts";
import { byteLength, MAX_PRESENCE_BYTES, MAX_SUBSCRIPTIONS } from "../protocol/limits.ts";
import type { PresenceState } from "../protocol/protocol.ts";
import type { Connections, Joined } from "../transport/connections.ts";
import type { Effect } from "../transport/effects.ts";
import { colorOf } from "./color.ts";

export const ALL_USERS = "*";
export const FOLLOWED_USERS = "following";

/** A user's state, and the socket that keeps it through hibernation. */
interface Stated {
  readonly socketId: string;
  readonly state: PresenceState;
}

type Update = readonly [userId: string, state: PresenceState | null];

const tell = (to: readonly string[], updates: readonly Update[]): Effect => ({
  type: "send",
  to,
  message: { type: "event", event: "presence", data: { updates } },
});

export class Presence {
  readonly #connections: Connections;
  readonly #followedBy: (userId: string) => readonly string[];
  readonly #stated = new Map<string, Stated>();
  /** Users whose state changed since it was last told. */
  readonly #changed = new Set<string>();
  /** Sockets whose attachment is to be written with the next flush. */
  readonly #unsaved = new Set<string>();

  constructor(connections: Connections, followedBy: (userId: string) => readonly string[]) {
    this.#connections = connections;
    this.#followedBy = followedBy;
  }

  /** Takes up the state that a socket kept through hibernation. */
  restore({ id, userId, presence }: Joined): void {
    if (presence !== null) this.#stated.set(userId, { socketId: id, state: stateOf(userId, presence) });
  }

  /** The states of all who have one, by user id. */
  states(): Record<string, PresenceState> {
    return Object.fromEntries([...this.#stated].map(([userId, { state }]) => [userId, state]));
  }

  /** The user shows `state` from now on, or nothing. */
  update({ id, userId }: Joined, state: Record<string, unknown> | null): Effect[] {
    const json = state === null ? null : JSON.stringify(state);
    if (json !== null && byteLength(json) > MAX_PRESENCE_BYTES)
      throw new AppError("Rooms", "VALIDATION_ERROR", `state: must have at most ${MAX_PRESENCE_BYTES} bytes`);
    const before = this.#stated.get(userId);
    if (before !== undefined && before.socketId !== id) this.#keep(before.socketId, null);
    if (state === null) this.#stated.delete(userId);
    else this.#stated.set(userId, { socketId: id, state: { color: colorOf(userId), ...state } });
    this.#keep(id, json);
    return this.#stir(userId);
  }

  #keep(id: string, presence: string | null): void {
    const connection = this.#connections.get(id);
    if (connection?.phase !== "joined" || connection.presence === presence) return;
    this.#connections.refresh({ ...connection, presence });
    this.#unsaved.add(id);
  }

  #stir(userId: string): Effect[] {
    this.#changed.add(userId);
    return [{ type: "presenceChanged", receivers: this.#connections.joinedCount }];
  }

  /** A socket is gone: another one of its user keeps the state, and without one the others hear of its end. */
  release({ id, userId, presence }: Joined): Effect[] {
    this.#unsaved.delete(id);
    const stated = this.#stated.get(userId);
    if (stated?.socketId !== id) return [];
    const heir = this.#connections.tabsOf(userId)[0];
    if (heir !== undefined) {
      this.#stated.set(userId, { ...stated, socketId: heir });
      this.#keep(heir, presence);
      return [{ type: "presenceChanged", receivers: 0 }];
    }
    this.#stated.delete(userId);
    return this.#stir(userId);
  }

  /** Begins or ends to tell a socket of some users; it gets their present states at once. */
  subscribe(connection: Joined, target: string, on: boolean): Effect[] {
    const others = connection.subscriptions.filter((known) => known !== target);
    if (on && others.length >= MAX_SUBSCRIPTIONS)
      throw new AppError(
        "Rooms",
        "CONFLICT",
        `A connection has ${MAX_SUBSCRIPTIONS} presence targets at most`,
      );
    const subscribed = { ...connection, subscriptions: on ? [...others, target] : others };
    this.#connections.refresh(subscribed);
    const attached: Effect = { type: "attach", connection: subscribed };
    if (!on) return [attached];
    const wants = this.#wants({ ...subscribed, subscriptions: [target] });
    const updates = [...this.#stated].flatMap(([userId, { state }]): Update[] =>
      wants(userId) ? [[userId, state]] : [],
    );
    return updates.length === 0 ? [attached] : [attached, tell([connection.id], updates)];
  }

  #wants({ userId, subscriptions }: Joined): (other: string) => boolean {
    if (subscriptions.includes(ALL_USERS)) return () => true;
    const followed = subscriptions.includes(FOLLOWED_USERS) ? this.#followedBy(userId) : [];
    const wanted = new Set([...subscriptions, ...followed]);
    return (other) => wanted.has(other);
  }

  /** Tells what changed since the last flush: one frame a socket, and the same one for all who want the same. */
  flush(): Effect[] {
    const updates = [...this.#changed].map(
      (userId): Update => [userId, this.#stated.get(userId)?.state ?? null],
    );
    this.#changed.clear();
    const saved = [...this.#unsaved].flatMap((id): Effect[] => {
      const connection = this.#connections.get(id);
      return connection?.phase === "joined" ? [{ type: "attach", connection }] : [];
    });
    this.#unsaved.clear();
    return [...saved, ...(updates.length === 0 ? [] : this.#tell(updates))];
  }

  #tell(updates: readonly Update[]): Effect[] {
    const audiences = new Map<string, { readonly wanted: readonly Update[]; readonly to: string[] }>();
    for (const connection of this.#connections.all()) {
      if (connection.phase !== "joined" || connection.subscriptions.length === 0) continue;
      const wanted = this.#choose(connection, updates);
      if (wanted.length === 0) continue;
      const key = wanted.length === updates.length ? ALL_USERS : wanted.map(([userId]) => userId).join("\n");
      const audience = audiences.get(key);
      if (audience === undefined) audiences.set(key, { wanted, to: [connection.id] });
      else audience.to.push(connection.id);
    }
    return [...audiences.values()].map(({ wanted, to }) => tell(to, wanted));
  }

  #choose(connection: Joined, updates: readonly Update[]): readonly Update[] {
    if (connection.subscriptions.includes(ALL_USERS)) return updates;
    const wants = this.#wants(connection);
    return updates.filter(([userId]) => wants(userId));
  }
}

/** A state as {@link Presence} kept it. */
const stateOf = (userId: string, json: string): PresenceState => ({
  color: colorOf(userId),
  ...(JSON.parse(json) as Record<string, unknown>),
});
