/** Presence: the current state of users, in memory only. The latest state wins, sent as one frame per tick. */

import { LIMITS } from "@atrium/contract/limits.ts";
import type { PresenceSubscription, PresenceUpdate } from "@atrium/contract/operations/presence.ts";
import { byteLength } from "@atrium/contract/text.ts";
import type { JsonText } from "../../protocol/frame.ts";
import type { Connection, Effect, Joined } from "../../transport/connection.ts";
import { type RoomConnections, send } from "../../transport/connections.ts";
import { type Fields, hasOwnColor, KeptStates, keptState, NO_SOCKET, UserNumbers } from "./kept-states.ts";
import {
  ALL_USERS,
  type Audience,
  audiencesOf,
  FOLLOWED_USERS,
  type FollowedBy,
  filterOf,
  presenceEvent,
  requireWithinLimits,
  sendTo,
  takesNumbers,
  unseenOf,
} from "./subscriptions.ts";

/** Interval at which a busy room writes the attachment of each socket. */
const SAVE_EVERY_MS = 5_000;

/** Time for a viewer to come back, as after a reload, in which no client is slowed down. */
const VIEWER_RETURNS_MS = 5_000;

const FLUSH_AGAIN: Effect = { type: "presenceChanged", receivers: 0 };

interface PresencePorts {
  readonly followedBy: FollowedBy;
  /** Whether a socket's client has read enough to be sent more. */
  canTakeMore(id: string): boolean;
  /** Epoch milliseconds. */
  now(): number;
}

interface StoredState {
  readonly userId: string;
  readonly state: Fields | null;
  readonly color: number | null;
}

interface Part {
  readonly updates: readonly string[];
  /** The change up to which that is everything; null at the end. */
  readonly sentUpTo: number | null;
}

export class RoomPresence {
  readonly #connections: RoomConnections;
  readonly #ports: PresencePorts;
  /** When a socket has last ended a subscription (epoch ms). */
  #viewerLeftAt = Number.NEGATIVE_INFINITY;
  readonly #backlog = new Backlog();
  #flushedChange = 0;
  readonly #states = new KeptStates();
  readonly #numbers = new UserNumbers();
  readonly #changed = new Set<string>();
  /** Sockets whose attachment is to be written by a flush, in the order in which they changed. */
  readonly #unsaved = new Set<string>();

  constructor(connections: RoomConnections, ports: PresencePorts) {
    this.#connections = connections;
    this.#ports = ports;
  }

  /** Restores the state that a socket kept through hibernation. */
  restore({ id, userId, presence, color }: Joined): void {
    if (presence === null) return;
    this.#states.set(userId, keptState(id, parseFields(presence)));
    if (color !== undefined) this.#states.colors.take(userId, color);
    this.#backlog.changed(userId, false);
  }

  /** Shows the stored state of a user without a socket, in the color that others have seen with it. */
  showAgain({ userId, state, color }: StoredState): Effect[] {
    if (color !== null) this.#states.colors.take(userId, color);
    return this.update({ id: NO_SOCKET, userId }, { state });
  }

  /** The color that the service shows with the user's state; null without a state, and for a color of its own. */
  colorOf(userId: string): number | null {
    const kept = this.#states.get(userId);
    return kept === undefined || hasOwnColor(kept) ? null : this.#states.colors.of(userId);
  }

  /** The user's state without the color; null for none. */
  fieldsOf(userId: string): Fields | null {
    return this.#states.get(userId)?.fields ?? null;
  }

  /** States of users who have one, by user id, as many as fit into `maxBytes` of JSON. */
  states(maxBytes?: number): JsonText {
    return this.#states.byUser(maxBytes);
  }

  /** Sets, changes or removes the user's state. VALIDATION_ERROR for a large state, CONFLICT for all states together. */
  update({ id, userId }: Pick<Joined, "id" | "userId">, update: PresenceUpdate): Effect[] {
    const { before, after } = this.#states.update(userId, id, update);
    // Sockets with numbers keep the color that was sent with the number.
    if (after === null || (hasOwnColor(before) && !hasOwnColor(after))) this.#numbers.release(userId);
    if (before !== undefined) this.#unsaved.add(before.socketId);
    this.#unsaved.add(id);
    return this.#markChanged(userId);
  }

  #updateOf(userId: string): string {
    const kept = this.#states.get(userId);
    return `[${JSON.stringify(userId)},${kept === undefined ? null : this.#states.shown(userId, kept)}]`;
  }

  /** The update with the number that later ones use for the user. */
  #introductionOf(userId: string): string {
    const kept = this.#states.get(userId);
    if (kept === undefined) return this.#updateOf(userId);
    return `[${JSON.stringify(userId)},${this.#states.shown(userId, kept)},${this.#numbers.of(userId)}]`;
  }

  #numberedUpdateOf(userId: string): string {
    const kept = this.#states.get(userId);
    if (kept === undefined || !this.#numbers.isIntroduced(userId)) return this.#introductionOf(userId);
    return `[${this.#numbers.of(userId)},${kept.json}]`;
  }

  #markChanged(userId: string): Effect[] {
    this.#changed.add(userId);
    this.#backlog.changed(userId, this.#states.get(userId) === undefined);
    return [{ type: "presenceChanged", receivers: this.#connections.joinedCount }];
  }

  /** A socket has closed: another one of its user keeps the state; without one the state ends, unless its user stays online. */
  release({ id, userId, subscriptions }: Joined, staysOnline: boolean): Effect[] {
    if (subscriptions.length > 0) this.#viewerLeftAt = this.#ports.now();
    this.#unsaved.delete(id);
    this.#backlog.sent(id, null);
    const kept = this.#states.get(userId);
    if (kept?.socketId !== id) return [];
    const heir = this.#connections.idsOf(userId)[0];
    if (heir !== undefined) {
      this.#states.set(userId, { ...kept, socketId: heir });
      this.#unsaved.add(heir);
      return [FLUSH_AGAIN];
    }
    return staysOnline ? [] : this.forget(userId);
  }

  forget(userId: string): Effect[] {
    this.#states.set(userId, null);
    this.#numbers.release(userId);
    return this.#markChanged(userId);
  }

  /** A user without a socket has one again, which keeps the state from now on. */
  inherit({ id, userId }: Joined): Effect[] {
    const kept = this.#states.get(userId);
    if (kept === undefined) return [];
    this.#states.set(userId, { ...kept, socketId: id });
    this.#unsaved.add(id);
    return [FLUSH_AGAIN];
  }

  /** Adds or removes a presence target; an added one sends the current states, in parts. CONFLICT above the limits. */
  subscribe(connection: Joined, { target, on, numbers }: PresenceSubscription): Effect[] {
    const others = connection.subscriptions.filter((subscribed) => subscribed !== target);
    const subscriptions = on ? [...others, target] : others;
    if (on) requireWithinLimits(subscriptions);
    const subscribed = { ...connection, subscriptions, ...(target === ALL_USERS && { numbers }) };
    this.#connections.update(subscribed);
    const attached: Effect = { type: "attach", connection: subscribed };
    if (!on) {
      this.#viewerLeftAt = this.#ports.now();
      return [attached];
    }
    return [attached, ...this.#sendStates(subscribed, target), ...this.#reveal(subscribed)];
  }

  #sendStates(subscribed: Joined, target: string): Effect[] {
    const { id } = subscribed;
    if (this.#backlog.sockets.has(id)) {
      this.#backlog.sent(id, 0);
      return [];
    }
    const shows = (userId: string) => this.#states.get(userId) !== undefined;
    const { updates, sentUpTo } = this.#partOf({ ...subscribed, subscriptions: [target] }, 0, shows);
    if (updates.length === 0) return [];
    this.#backlog.sent(id, sentUpTo);
    return [send([id], presenceEvent(updates)), ...this.resume()];
  }

  /** A user follows another one now. */
  followed(followerId: string, userId: string): Effect[] {
    const isSeen = this.#connections.idsOf(followerId).some((id) => {
      const connection = this.#connections.get(id);
      return connection?.phase === "joined" && connection.subscriptions.includes(FOLLOWED_USERS);
    });
    return isSeen ? this.#setUnseen(this.#connections.idsOf(userId), false) : [];
  }

  /** Lets the clients that `viewer` sees now send their latest state at once. */
  #reveal(viewer: Joined): Effect[] {
    const sees = filterOf(viewer, this.#ports.followedBy);
    const seen: string[] = [];
    for (const each of this.#connections.all())
      if (each.phase === "joined" && each.isUnseen && each.id !== viewer.id && sees(each.userId))
        seen.push(each.id);
    return this.#setUnseen(seen, false);
  }

  /** Slows down clients whose updates no other socket sees. */
  #slowDown(audiences: readonly Audience[], userIds: readonly string[]): Effect[] {
    if (this.hasLeft || this.#ports.now() < this.#viewerLeftAt + VIEWER_RETURNS_MS) return [];
    const socketOf = (userId: string) => this.#states.get(userId)?.socketId;
    const sockets = [...unseenOf(audiences, userIds, socketOf)].flatMap((userId) => socketOf(userId) ?? []);
    return this.#setUnseen(sockets, true);
  }

  /** Keeps with the sockets whether their presence is unseen, and lets the clients know that do not (R101). */
  #setUnseen(ids: readonly string[], isUnseen: boolean): Effect[] {
    const changed = ids.flatMap((id): Joined[] => {
      const connection = this.#connections.get(id);
      const isNews = connection?.phase === "joined" && (connection.isUnseen ?? false) !== isUnseen;
      return isNews ? [{ ...connection, isUnseen }] : [];
    });
    if (changed.length === 0) return [];
    for (const connection of changed) this.#connections.update(connection);
    const to = changed.map(({ id }) => id);
    return [
      ...changed.map((connection): Effect => ({ type: "attach", connection })),
      send(to, presenceEvent([], isUnseen ? LIMITS.unseenPresenceMs : 0)),
    ];
  }

  /** The next frame of changes after `since` for a socket. */
  #partOf(connection: Joined, since: number, concerns = (_: string) => true): Part {
    const isNumbered = takesNumbers(connection);
    const isSubscribed = filterOf(connection, this.#ports.followedBy);
    const updates: string[] = [];
    let bytes = 0;
    let sentUpTo = since;
    for (const [userId, change] of this.#backlog.changedSince(since)) {
      if (!isSubscribed(userId) || !concerns(userId)) continue;
      const update = isNumbered ? this.#introductionOf(userId) : this.#updateOf(userId);
      bytes += byteLength(update);
      if (bytes > LIMITS.presenceFrameBytes) return { updates, sentUpTo };
      updates.push(update);
      sentUpTo = change;
    }
    return { updates, sentUpTo: null };
  }

  /** Whether sockets have yet to be sent changes that did not fit into a frame. */
  get hasLeft(): boolean {
    return this.#backlog.sockets.size > 0;
  }

  /** Clients may have read enough: goes on with the rest. */
  resume(): Effect[] {
    return this.hasLeft ? [FLUSH_AGAIN] : [];
  }

  /**
   * Sends the changes since the last flush: one frame per socket, serialized once per distinct content. Flushes are
   * `intervalMs` apart; 0 in a calm room. If it throws, the next flush sends the same.
   */
  flush(intervalMs: number): Effect[] {
    const userIds = [...this.#changed];
    const audiences = audiencesOf(this.#upToDate(), userIds, this.#ports.followedBy);
    const sent = sendTo(audiences, {
      updateOf: (userId, isNumbered) =>
        isNumbered ? this.#numberedUpdateOf(userId) : this.#updateOf(userId),
      intervalMs,
      exceeded: (ids) => {
        for (const id of ids) this.#backlog.sent(id, this.#flushedChange);
      },
    });
    this.#numbers.introduce(this.#changed);
    this.#changed.clear();
    this.#flushedChange = this.#backlog.latest;
    const late = this.#sendLeft(intervalMs);
    this.#backlog.prune();
    return [...this.#save(intervalMs), ...sent, ...late, ...this.#slowDown(audiences, userIds)];
  }

  #upToDate(): Iterable<Connection> {
    const all = this.#connections.all();
    return this.hasLeft ? [...all].filter(({ id }) => !this.#backlog.sockets.has(id)) : all;
  }

  /** Sends one more frame to each socket that is behind and whose client has read enough; the same one to all at one point. */
  #sendLeft(intervalMs: number): Effect[] {
    const parts = new Map<string, Part & { readonly to: string[] }>();
    for (const [id, since] of this.#backlog.sockets) {
      const connection = this.#connections.get(id);
      if (connection?.phase !== "joined" || !this.#ports.canTakeMore(id)) continue;
      const isOfAll = connection.subscriptions.includes(ALL_USERS);
      const key = isOfAll ? `${takesNumbers(connection)} ${since}` : id;
      const part = parts.get(key) ?? { ...this.#partOf(connection, since), to: [] };
      part.to.push(id);
      parts.set(key, part);
      this.#backlog.sent(id, part.sentUpTo);
    }
    return [...parts.values()].flatMap(({ to, updates }) =>
      updates.length === 0 ? [] : send(to, presenceEvent(updates, intervalMs)),
    );
  }

  /** Writes changed states to attachments: at once in a calm room, a share per flush in a busy one, which cannot hibernate. */
  #save(intervalMs: number): Effect[] {
    const isCalm = intervalMs === 0;
    const share = isCalm ? this.#unsaved.size : (this.#connections.joinedCount * intervalMs) / SAVE_EVERY_MS;
    const saved: Effect[] = [];
    for (const id of this.#unsaved) {
      if (saved.length >= share) return [...saved, { type: "presenceChanged", receivers: 0 }];
      this.#unsaved.delete(id);
      const connection = this.#changedConnection(id);
      if (connection !== null) saved.push({ type: "attach", connection });
    }
    return saved;
  }

  /** A socket's connection with its current state; null if the attachment has the same. */
  #changedConnection(id: string): Joined | null {
    const connection = this.#connections.get(id);
    if (connection?.phase !== "joined") return null;
    const kept = this.#states.get(connection.userId);
    const presence = kept?.socketId === id ? kept.json : null;
    if (presence === connection.presence) return null;
    const { color: _, ...others } = connection;
    const color = presence === null ? null : this.colorOf(connection.userId);
    const changed = { ...others, presence, ...(color !== null && { color }) };
    this.#connections.update(changed);
    return changed;
  }
}

const parseFields = (json: string): Fields => JSON.parse(json) as Fields;

class Backlog {
  /** The number of each user's latest change, earliest first. */
  readonly #changes = new Map<string, number>();
  /** Users without a state, which sockets that are behind may still show. */
  readonly #gone = new Set<string>();
  /** The sockets that are behind, each with the change up to which it was sent everything. */
  readonly sockets = new Map<string, number>();
  latest = 0;

  /** A user shows something else, or nothing any more. */
  changed(userId: string, isGone: boolean): void {
    this.latest += 1;
    this.#changes.delete(userId);
    this.#changes.set(userId, this.latest);
    if (isGone) this.#gone.add(userId);
    else this.#gone.delete(userId);
  }

  /** The users who have changed since then, earliest first. */
  *changedSince(since: number): Iterable<readonly [string, number]> {
    for (const change of this.#changes) if (change[1] > since) yield change;
  }

  /** The socket was sent everything up to this change: with null, all of it. */
  sent(id: string, change: number | null): void {
    if (change === null) this.sockets.delete(id);
    else this.sockets.set(id, change);
  }

  /** Forgets the users without a state, once no socket is behind. */
  prune(): void {
    if (this.sockets.size > 0) return;
    for (const userId of this.#gone) this.#changes.delete(userId);
    this.#gone.clear();
  }
}
