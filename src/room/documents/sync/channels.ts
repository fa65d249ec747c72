/** The open documents, and those that are due for folding. Others have nothing in memory. */

import { combined } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import { isTooDeep } from "@atrium/contract/text.ts";
import type { Effect, ShownEntry } from "../../transport/connection.ts";
import type { RoomDocuments } from "../documents.ts";
import { type AwarenessEntry, bodies, withKey } from "./frames.ts";

export class Channels {
  readonly #documents: RoomDocuments;
  readonly #channels = new Map<string, Channel>();
  readonly #dueFolds = new Set<string>();

  constructor(documents: RoomDocuments) {
    this.#documents = documents;
  }

  find(name: string): Channel | undefined {
    return this.#channels.get(name);
  }

  all(): readonly Channel[] {
    return [...this.#channels.values()];
  }

  /** Opens a document. A channel that stays without a subscription has to be released. */
  open(name: string): Channel {
    const known = this.#channels.get(name);
    if (known !== undefined) return known;
    const channel = new Channel(name);
    this.#channels.set(name, channel);
    return channel;
  }

  /** Sends a stored update to all other subscriptions, and schedules folding when it is due. */
  broadcast(name: string, update: Uint8Array, except?: Subscription): Effect[] {
    const effects = this.#channels.get(name)?.broadcast(bodies.update(update), except) ?? [];
    return [...effects, ...this.foldIfDue(name)];
  }

  /** Schedules folding when it is due. */
  foldIfDue(name: string): Effect[] {
    if (!this.#documents.isFoldDue(name)) return [];
    this.#dueFolds.add(name);
    return [{ type: "foldDocuments" }];
  }

  /** Unloads a document, unless a socket has it open or folding is due; with a fork, the document that its updates are compared with. */
  release(name: string): void {
    if (this.#channels.get(name)?.isEmpty === false) return;
    this.#channels.delete(name);
    if (!this.#dueFolds.has(name)) this.#documents.release(name);
    const forked = this.#documents.forkedBy(name);
    if (forked !== null) this.release(forked);
  }

  /** The socket that shows a client in the awareness of a document; null for none. */
  socketShowing(name: string, client: number): string | null {
    return this.#channels.get(name)?.awareness.socketOf(client) ?? null;
  }

  /** Folds due documents, and calls `folded` with the first changed part. The first failure is thrown at the end. */
  foldDue(folded: (subscription: Subscription, firstChanged: number) => void): void {
    const names = [...this.#dueFolds];
    this.#dueFolds.clear();
    const failures: unknown[] = [];
    for (const name of names) {
      try {
        const firstChanged = this.#documents.fold(name);
        for (const subscription of this.#channels.get(name)?.subscriptions ?? [])
          folded(subscription, firstChanged);
      } catch (error) {
        failures.push(error);
      }
      this.release(name);
    }
    if (failures.length > 0) throw combined(failures);
  }
}

const sendBytes = (to: readonly string[], frame: Uint8Array): Effect => ({ type: "sendBytes", to, frame });

export const sendTo = (subscription: Subscription, body: Uint8Array): Effect =>
  sendBytes([subscription.socketId], subscription.frame(body));

class Channel {
  readonly name: string;
  readonly awareness = new Awareness();
  readonly #subscriptions = new Map<string, Subscription>();
  /** Some sockets are older than this memory, so the next subscription asks them for their awareness. */
  #hasForgotten = false;

  constructor(name: string) {
    this.name = name;
  }

  get isEmpty(): boolean {
    return this.#subscriptions.size === 0;
  }

  get subscriptions(): readonly Subscription[] {
    return [...this.#subscriptions.values()];
  }

  find(socketId: string, key: string | null): Subscription | undefined {
    return this.#subscriptions.get(idOf(socketId, key));
  }

  add(subscription: Subscription): Effect[] {
    const others = this.#hasForgotten ? this.broadcast(bodies.queryAwareness()) : [];
    this.#hasForgotten = false;
    this.#put(subscription);
    const present = this.awareness.all();
    return present.length === 0 ? others : [...others, sendTo(subscription, bodies.awareness(present))];
  }

  /** Restores a subscription after hibernation, with the awareness of its socket. */
  restore(subscription: Subscription, shown: readonly ShownEntry[]): void {
    this.#hasForgotten = true;
    this.#put(subscription);
    for (const entry of shown) this.awareness.restore(subscription.socketId, entry);
  }

  #put(subscription: Subscription): void {
    this.#subscriptions.set(idOf(subscription.socketId, subscription.key), subscription);
  }

  /** Removes a subscription. After the last one of a socket, the others learn that its clients are gone. */
  remove(subscription: Subscription): Effect[] {
    const { socketId, key } = subscription;
    this.#subscriptions.delete(idOf(socketId, key));
    if (this.subscriptions.some((other) => other.socketId === socketId)) return [];
    const gone = this.awareness.remove(socketId);
    return gone.length === 0 ? [] : this.broadcast(bodies.awareness(gone));
  }

  of(socketId: string): Subscription[] {
    return this.subscriptions.filter((subscription) => subscription.socketId === socketId);
  }

  broadcast(body: Uint8Array, except?: Subscription): Effect[] {
    const byKey = new Map<string | null, Subscription[]>();
    for (const subscription of this.#subscriptions.values()) {
      if (subscription === except) continue;
      const same = byKey.get(subscription.key);
      if (same === undefined) byKey.set(subscription.key, [subscription]);
      else same.push(subscription);
    }
    return [...byKey.values()].flatMap((same) => {
      const [first] = same;
      const to = same.map(({ socketId }) => socketId);
      return first === undefined ? [] : [sendBytes(to, first.frame(body))];
    });
  }
}

const idOf = (socketId: string, key: string | null): string => `${socketId} ${key ?? ""}`;

/** A transfer in parts; the client applies each before the next one is sent. */
interface Transfer {
  readonly stateVector: Uint8Array;
  next: number;
}

/** A step 1 of the room, and the meaning of its answer. */
export interface SentStep {
  /** The answer confirms everything sent before this mark; null when it asks for operations. */
  readonly mark: number | null;
  /** The answer completes the synchronization. */
  readonly isSync: boolean;
}

/** A document that a socket has open, and the progress of its synchronization. */
export class Subscription {
  readonly channel: Channel;
  readonly socketId: string;
  /** The client's name for the document; null where the address names it. */
  readonly key: string | null;
  transfer: Transfer | null = null;
  readonly unanswered: SentStep[] = [];
  /** The client has received the reason of a refusal. */
  hasWarned = false;
  /** Updates whose statuses follow that of the synchronization. */
  heldStatuses = 0;
  /** The subscription is older than this memory, which lacks its unanswered steps. */
  readonly isRestored: boolean;

  constructor(channel: Channel, socketId: string, key: string | null, isRestored = false) {
    this.channel = channel;
    this.socketId = socketId;
    this.key = key;
    this.isRestored = isRestored;
  }

  /** Tells whether the client was sent everything, and has not answered since. */
  get isAsked(): boolean {
    return this.unanswered.some(({ isSync }) => isSync);
  }

  /** Tells whether the next answer belongs to a step that the room has forgotten. */
  get answersForgotten(): boolean {
    return this.isRestored && this.unanswered.length === 0;
  }

  frame(body: Uint8Array): Uint8Array {
    return this.key === null ? body : withKey(this.key, body);
  }
}

/** Characters of a state, and entries of a socket. Clients choose their IDs, so an ID proves nothing. */
const MAX_STATE_LENGTH = 8 * 1024;
export const MAX_ENTRIES_OF_SOCKET = 32;

interface Bound extends Omit<AwarenessEntry, "state"> {
  readonly socketId: string;
  /** Null after the room lost its memory. */
  readonly state: string | null;
}

const GONE = "null";

/** Clients compare states by recursion. */
const isAcceptable = (state: string): boolean =>
  state.length <= MAX_STATE_LENGTH && !isTooDeep(state, LIMITS.frameDepth);

/** States are in memory only; sockets keep IDs and clocks. */
export class Awareness {
  readonly #entries = new Map<number, Bound>();
  /** Clients by socket. No set is empty. */
  readonly #clients = new Map<string, Set<number>>();

  /** Applies the entries of a socket, and returns the news: no entries of other sockets, no outdated ones. */
  apply(socketId: string, entries: readonly AwarenessEntry[]): AwarenessEntry[] {
    return entries.filter((entry) => this.#applyOne(socketId, entry));
  }

  #applyOne(socketId: string, { client, clock, state }: AwarenessEntry): boolean {
    const known = this.#entries.get(client);
    if (known === undefined) {
      const isFull = (this.#clients.get(socketId)?.size ?? 0) >= MAX_ENTRIES_OF_SOCKET;
      if (state === GONE || isFull) return false;
    } else if (known.socketId !== socketId) return false;
    else if (clock < known.clock) return false;
    else if (clock === known.clock && state !== GONE && known.state !== null) return false;
    if (!isAcceptable(state)) return false;
    if (state === GONE) this.#delete(socketId, client);
    else this.#set({ client, clock, state, socketId });
    return true;
  }

  #set(entry: Bound): void {
    const clients = this.#clients.get(entry.socketId) ?? new Set();
    this.#clients.set(entry.socketId, clients.add(entry.client));
    this.#entries.set(entry.client, entry);
  }

  #delete(socketId: string, client: number): void {
    const clients = this.#clients.get(socketId);
    clients?.delete(client);
    if (clients?.size === 0) this.#clients.delete(socketId);
    this.#entries.delete(client);
  }

  all(): AwarenessEntry[] {
    return [...this.#entries.values()].flatMap(({ client, clock, state }) =>
      state === null ? [] : { client, clock, state },
    );
  }

  /** The socket that shows a client; null for none. */
  socketOf(client: number): string | null {
    return this.#entries.get(client)?.socketId ?? null;
  }

  idsOf(socketId: string): Pick<AwarenessEntry, "client" | "clock">[] {
    return [...(this.#clients.get(socketId) ?? [])].flatMap((client) => {
      const { clock } = this.#entries.get(client) ?? {};
      return clock === undefined ? [] : { client, clock };
    });
  }

  restore(socketId: string, { client, clock }: Pick<AwarenessEntry, "client" | "clock">): void {
    this.#set({ client, clock, socketId, state: null });
  }

  remove(socketId: string): AwarenessEntry[] {
    const removed = this.idsOf(socketId).map((id) => ({ ...id, state: GONE }));
    for (const { client } of removed) this.#delete(socketId, client);
    return removed;
  }
}
