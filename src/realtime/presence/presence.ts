/** What users show right now: in memory only, the latest state wins, sent as one frame per tick. */
import { AppError } from "../../platform/errors.ts";
import { byteLength } from "../../platform/text.ts";
import {
  MAX_PRESENCE_BYTES,
  MAX_ROOM_PRESENCE_BYTES,
  MAX_SUBSCRIPTION_BYTES,
  MAX_SUBSCRIPTIONS,
} from "../protocol/limits.ts";
import type { PresenceUpdate } from "../protocol/messages.ts";
import type { PresenceState } from "../protocol/protocol.ts";
import type { Joined } from "../transport/connection.ts";
import { type Connections, send } from "../transport/connections.ts";
import type { Effect } from "../transport/effects.ts";
import { colorOf } from "./color.ts";

const ALL_USERS = "*";
const FOLLOWED_USERS = "following";
/** How much of a field's name an error message shows. */
const MAX_NAME_SHOWN = 100;

const ROOM_IS_FULL = new AppError(
  "Rooms",
  "CONFLICT",
  `state: the presence of all users of the room can have at most ${MAX_ROOM_PRESENCE_BYTES} bytes together; show less`,
);

/** A user's state, and the socket whose attachment keeps it through hibernation. */
interface KeptState {
  readonly socketId: string;
  /** What the user's clients have set, without the color that the service adds. */
  readonly fields: Fields;
  readonly state: PresenceState;
  /** Of the fields, as JSON. */
  readonly bytes: number;
}

type Fields = Readonly<Record<string, unknown>>;

type Update = readonly [userId: string, state: PresenceState | null];

const presenceEvent = (updates: readonly Update[]) =>
  ({ type: "event", event: "presence", data: { updates } }) as const;

export class Presence {
  readonly #connections: Connections;
  readonly #followedBy: (userId: string) => readonly string[];
  readonly #states = new Map<string, KeptState>();
  /** Of all states. */
  #bytes = 0;
  /** Users whose state has changed since the last flush. */
  readonly #changed = new Set<string>();
  /** Sockets whose attachment is written with the next flush. */
  readonly #unsaved = new Set<string>();

  constructor(connections: Connections, followedBy: (userId: string) => readonly string[]) {
    this.#connections = connections;
    this.#followedBy = followedBy;
  }

  /** Restores the state that a socket kept through hibernation. */
  restore({ id, userId, presence }: Joined): void {
    if (presence !== null) this.#replace(userId, keptState(id, userId, parseFields(presence)));
  }

  /** What the user shows, without the color; null for nothing. */
  fieldsOf(userId: string): Fields | null {
    return this.#states.get(userId)?.fields ?? null;
  }

  /** The states by user id, of the users who have one. */
  states(): Record<string, PresenceState> {
    return Object.fromEntries([...this.#states].map(([userId, { state }]) => [userId, state]));
  }

  /** The states by user id that fit into so many bytes of JSON. */
  statesUpTo(maxBytes: number): Record<string, PresenceState> {
    const shown: Record<string, PresenceState> = {};
    let bytes = 0;
    for (const [userId, { state }] of this.#states) {
      bytes += byteLength(JSON.stringify({ [userId]: state }));
      if (bytes > maxBytes) break;
      shown[userId] = state;
    }
    return shown;
  }

  #replace(userId: string, state: KeptState | null): void {
    this.#bytes += (state?.bytes ?? 0) - (this.#states.get(userId)?.bytes ?? 0);
    if (state === null) this.#states.delete(userId);
    else this.#states.set(userId, state);
  }

  /**
   * Sets, changes or removes the user's state. VALIDATION_ERROR when it would be too large, CONFLICT when those of all
   * users together would be; it stays as it was.
   */
  update({ id, userId }: Pick<Joined, "id" | "userId">, update: PresenceUpdate): Effect[] {
    const fields = this.#fieldsAfter(userId, update);
    const json = fields === null ? null : JSON.stringify(fields);
    const after = fields === null ? null : keptState(id, userId, fields);
    if (after !== null && after.bytes > MAX_PRESENCE_BYTES) throw tooLarge(update);
    const before = this.#states.get(userId);
    const growth = (after?.bytes ?? 0) - (before?.bytes ?? 0);
    if (growth > 0 && this.#bytes + growth > MAX_ROOM_PRESENCE_BYTES) throw ROOM_IS_FULL;
    if (before !== undefined && before.socketId !== id) this.#keep(before.socketId, null);
    this.#replace(userId, after);
    this.#keep(id, json);
    return this.#markChanged(userId);
  }

  #fieldsAfter(userId: string, { state, patch, remove = [] }: PresenceUpdate): Fields | null {
    if (state !== undefined) return state;
    const fields = { ...this.#states.get(userId)?.fields, ...patch };
    for (const name of remove) delete fields[name];
    return fields;
  }

  #keep(id: string, presence: string | null): void {
    const connection = this.#connections.get(id);
    if (connection?.phase !== "joined" || connection.presence === presence) return;
    this.#connections.update({ ...connection, presence });
    this.#unsaved.add(id);
  }

  #markChanged(userId: string): Effect[] {
    this.#changed.add(userId);
    return [{ type: "presenceChanged", receivers: this.#connections.joinedCount }];
  }

  /** A socket has closed: another one of its user keeps the state; without one the state ends, unless its user stays online. */
  release({ id, userId, presence }: Joined, staysOnline: boolean): Effect[] {
    this.#unsaved.delete(id);
    const kept = this.#states.get(userId);
    if (kept?.socketId !== id) return [];
    const heir = this.#connections.idsOf(userId)[0];
    if (heir !== undefined) {
      this.#replace(userId, { ...kept, socketId: heir });
      this.#keep(heir, presence);
      return [{ type: "presenceChanged", receivers: 0 }];
    }
    return staysOnline ? [] : this.forget(userId);
  }

  /** The user has gone offline. */
  forget(userId: string): Effect[] {
    this.#replace(userId, null);
    return this.#markChanged(userId);
  }

  /** A user without a socket has one again, which keeps the state from now on. */
  inherit({ id, userId }: Joined): Effect[] {
    const kept = this.#states.get(userId);
    if (kept === undefined) return [];
    this.#replace(userId, { ...kept, socketId: id });
    this.#keep(id, JSON.stringify(kept.fields));
    return [{ type: "presenceChanged", receivers: 0 }];
  }

  /** Adds or removes a presence target; an added one sends the current states at once. CONFLICT above the limits. */
  subscribe(connection: Joined, target: string, on: boolean): Effect[] {
    const others = connection.subscriptions.filter((subscribed) => subscribed !== target);
    const subscriptions = on ? [...others, target] : others;
    if (on) requireWithinLimits(subscriptions);
    const subscribed = { ...connection, subscriptions };
    this.#connections.update(subscribed);
    const attached: Effect = { type: "attach", connection: subscribed };
    if (!on) return [attached];
    const matches = this.#filterOf({ ...subscribed, subscriptions: [target] });
    const updates = [...this.#states].flatMap(([userId, { state }]): Update[] =>
      matches(userId) ? [[userId, state]] : [],
    );
    return updates.length === 0 ? [attached] : [attached, send([connection.id], presenceEvent(updates))];
  }

  /** Whether a socket is subscribed to a user. */
  #filterOf({ userId, subscriptions }: Joined): (other: string) => boolean {
    if (subscriptions.includes(ALL_USERS)) return () => true;
    const followed = subscriptions.includes(FOLLOWED_USERS) ? this.#followedBy(userId) : [];
    const targets = new Set([...subscriptions, ...followed]);
    return (other) => targets.has(other);
  }

  /**
   * Sends what has changed since the last flush: one frame per socket, serialized once per distinct content. If it
   * throws, the next flush sends the same.
   */
  flush(): Effect[] {
    const updates = [...this.#changed].map(
      (userId): Update => [userId, this.#states.get(userId)?.state ?? null],
    );
    const sent = updates.length === 0 ? [] : this.#sendUpdates(updates);
    this.#changed.clear();
    const saved = [...this.#unsaved].flatMap((id): Effect[] => {
      const connection = this.#connections.get(id);
      return connection?.phase === "joined" ? [{ type: "attach", connection }] : [];
    });
    this.#unsaved.clear();
    return [...saved, ...sent];
  }

  #sendUpdates(updates: readonly Update[]): Effect[] {
    const audiences = new Map<string, { readonly selected: readonly Update[]; readonly to: string[] }>();
    for (const connection of this.#connections.all()) {
      if (connection.phase !== "joined" || connection.subscriptions.length === 0) continue;
      const selected = this.#select(connection, updates);
      if (selected.length === 0) continue;
      const key =
        selected.length === updates.length ? ALL_USERS : selected.map(([userId]) => userId).join("\n");
      const audience = audiences.get(key);
      if (audience === undefined) audiences.set(key, { selected, to: [connection.id] });
      else audience.to.push(connection.id);
    }
    return [...audiences.values()].map(({ selected, to }) => send(to, presenceEvent(selected)));
  }

  #select(connection: Joined, updates: readonly Update[]): readonly Update[] {
    if (connection.subscriptions.includes(ALL_USERS)) return updates;
    const matches = this.#filterOf(connection);
    return updates.filter(([userId]) => matches(userId));
  }
}

function requireWithinLimits(subscriptions: readonly string[]): void {
  if (subscriptions.length > MAX_SUBSCRIPTIONS)
    throw new AppError(
      "Rooms",
      "CONFLICT",
      `A connection can have at most ${MAX_SUBSCRIPTIONS} presence targets`,
    );
  if (byteLength(JSON.stringify(subscriptions)) > MAX_SUBSCRIPTION_BYTES)
    throw new AppError(
      "Rooms",
      "CONFLICT",
      `The presence targets of a connection can have at most ${MAX_SUBSCRIPTION_BYTES} bytes of JSON together`,
    );
}

const keptState = (socketId: string, userId: string, fields: Fields): KeptState => ({
  socketId,
  fields,
  state: { color: colorOf(userId), ...fields },
  bytes: byteLength(JSON.stringify(fields)),
});

/** The fields as {@link Presence} kept them. */
const parseFields = (json: string): Fields => JSON.parse(json) as Fields;

/** Names the largest field of a patch, so that its sender finds it. */
function tooLarge({ patch }: PresenceUpdate): AppError {
  const sizes = Object.entries(patch ?? {}).map(
    ([name, value]) => [name, JSON.stringify(value).length] as const,
  );
  const [largest] = sizes.toSorted(([, a], [, b]) => b - a);
  const field = largest === undefined ? "state" : `patch.${largest[0].slice(0, MAX_NAME_SHOWN)}`;
  const message = `${field}: the state must have at most ${MAX_PRESENCE_BYTES} bytes`;
  return new AppError("Rooms", "VALIDATION_ERROR", message);
}
