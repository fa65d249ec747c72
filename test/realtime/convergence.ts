/** Members of a pure room who work, vanish and come back, on a network that loses what is under way. */
import { expect } from "vitest";
import type { Joined, Waiting } from "../../src/realtime/connections.ts";
import type { Effect } from "../../src/realtime/effects.ts";
import type { Change, JoinedRoom, PresenceState, ServerMessage } from "../../src/realtime/protocol.ts";
import { Room } from "../../src/realtime/room.ts";
import type { RoomStorage } from "../../src/realtime/storage.ts";
import type { RoomRow } from "../../src/rooms/table.ts";
import type { UserRecord } from "../../src/users/schema.ts";

const ROOM: RoomRow = {
  accountId: "account",
  id: "room",
  name: "Room",
  nameFolded: "ROOM",
  customId: null,
  state: "active",
  createdAt: 0,
  totalUsersCreated: 0,
  activeParticipants: 0,
  occupiedMs: 0,
  occupiedSince: null,
  figuresVersion: 0,
  firstJoinAt: null,
};

const userRecord = (id: string): UserRecord => ({
  id,
  accountId: "account",
  roomId: "room",
  name: id,
  profilePicture: null,
  customId: null,
  role: "editor",
  createdAt: 0,
});

/** A request that its sender repeats until it is answered. */
interface Pending {
  readonly type: string;
  readonly requestId: string;
  readonly data: object;
}

/** A client as a careful one would be: it keeps what it saw, and sends again what was not answered. */
class Client {
  readonly userId: string;
  socketId: string | null = null;
  /** All changes seen, through all connections. */
  readonly seen: Change[] = [];
  readonly presence = new Map<string, PresenceState>();
  pending: Pending[] = [];

  constructor(userId: string) {
    this.userId = userId;
  }

  get lastSeq(): number {
    return this.seen.at(-1)?.seq ?? 0;
  }

  hear(message: ServerMessage): void {
    if (message.type === "response") this.#hearAnswer(message);
    else if ("seq" in message) this.#see(message);
    else if (message.event === "presence") for (const update of message.data.updates) this.#show(update);
  }

  #hearAnswer(message: Extract<ServerMessage, { type: "response" }>): void {
    expect(message.success, JSON.stringify(message)).toBe(true);
    const { data } = message;
    if (isJoinedRoom(data)) this.#rejoin(data);
    this.pending = this.pending.filter(({ requestId }) => requestId !== message.requestId);
  }

  #rejoin({ changes, reset, presence }: JoinedRoom): void {
    expect(reset).toBeUndefined();
    for (const change of changes ?? []) this.#see(change);
    this.presence.clear();
    for (const [userId, state] of Object.entries(presence)) this.presence.set(userId, state);
  }

  #see({ seq, event, data }: Change): void {
    expect(seq).toBe(this.lastSeq + 1);
    this.seen.push({ seq, event, data });
  }

  #show([userId, state]: readonly [string, PresenceState | null]): void {
    if (state === null) this.presence.delete(userId);
    else this.presence.set(userId, state);
  }
}

/** Picks are taken modulo what there is to pick from. */
export type Step =
  | { readonly type: "join" | "vanish" | "resend"; readonly who: number }
  | {
      readonly type: "set" | "merge" | "remove";
      readonly who: number;
      readonly key: number;
      readonly lost: Loss;
    }
  | { readonly type: "batch" | "comment" | "react"; readonly who: number; readonly lost: Loss }
  | { readonly type: "follow" | "unfollow"; readonly who: number; readonly whom: number; readonly lost: Loss }
  | { readonly type: "show"; readonly who: number; readonly value: number | null }
  | { readonly type: "flush" | "hibernate" | "crash" };

/** A step that asks for something that lasts. */
type Asking = Extract<Step, { readonly lost: Loss }>;

/** What the network does to a request: nothing, or it loses the request or all that it leads to. */
export type Loss = "nothing" | "request" | "answer";

export class Convergence {
  readonly #storage: () => RoomStorage;
  readonly #clients: readonly Client[];
  readonly #attachments = new Map<string, Waiting | Joined>();
  /** By id of an open socket. */
  readonly #owners = new Map<string, Client>();
  /** What each user last showed, as it believes. */
  readonly #shown = new Map<string, number>();
  #room: Room;
  #ids = 0;
  #now = 1_000_000;
  #isStirred = false;

  constructor(storage: () => RoomStorage, clients: number) {
    this.#storage = storage;
    this.#clients = Array.from({ length: clients }, (_, index) => new Client(`user-${index}`));
    this.#room = this.#start();
  }

  #start(): Room {
    return new Room({
      storage: this.#storage(),
      now: () => this.#now,
      newId: () => this.#newId("id"),
      lastPingAt: () => null,
      report: (_, error) => {
        throw error;
      },
    });
  }

  #newId(kind: string): string {
    this.#ids += 1;
    return `${kind}-${this.#ids}`;
  }

  #client(pick: number): Client {
    const client = this.#clients[pick % this.#clients.length];
    if (client === undefined) throw new Error("There is no client");
    return client;
  }

  run(step: Step): void {
    this.#now += 7;
    switch (step.type) {
      case "join":
        this.#join(this.#client(step.who));
        break;
      case "vanish":
        this.#vanish(this.#client(step.who));
        break;
      case "resend":
        this.#resend(this.#client(step.who));
        break;
      case "show":
        this.#show(this.#client(step.who), step.value);
        break;
      case "flush":
        this.#flush();
        break;
      case "hibernate":
        this.#flush(); // a room with a timer running does not hibernate
        this.#restart();
        break;
      case "crash":
        for (const client of this.#clients) client.socketId = null;
        this.#owners.clear();
        this.#attachments.clear();
        this.#shown.clear();
        this.#restart();
        break;
      default:
        this.#request(step);
    }
  }

  #restart(): void {
    this.#isStirred = false;
    this.#room = this.#start();
    this.#perform(this.#room.restore([...this.#attachments.values()]));
  }

  #join(client: Client): void {
    if (client.socketId !== null) return;
    const id = this.#newId("socket");
    client.socketId = id;
    this.#owners.set(id, client);
    this.#perform(this.#room.open(id));
    const data = { token: client.userId, since: client.lastSeq };
    this.#perform(this.#room.receive(id, JSON.stringify({ type: "JOIN_ROOM", data })));
    this.#send(client, {
      type: "PRESENCE_SUBSCRIBE",
      requestId: "subscribe",
      data: { target: "*", on: true },
    });
    this.#resend(client);
  }

  #vanish(client: Client): void {
    const { socketId } = client;
    if (socketId === null) return;
    this.#cut(client, socketId);
    this.#perform(this.#room.close(socketId));
  }

  /** From here on nothing reaches the client over this socket. */
  #cut(client: Client, socketId: string): void {
    client.socketId = null;
    this.#owners.delete(socketId);
    this.#attachments.delete(socketId);
    this.#shown.delete(client.userId);
  }

  #show(client: Client, value: number | null): void {
    if (client.socketId === null) return;
    if (value === null) this.#shown.delete(client.userId);
    else this.#shown.set(client.userId, value);
    this.#send(client, { type: "PRESENCE_UPDATE", data: { state: value === null ? null : { value } } });
  }

  #resend(client: Client): void {
    for (const pending of [...client.pending]) this.#send(client, pending);
  }

  #request(step: Asking): void {
    const client = this.#client(step.who);
    const pending: Pending = { requestId: this.#newId("request"), ...this.#messageOf(step) };
    client.pending.push(pending);
    if (client.socketId === null || step.lost === "request") return;
    const { socketId } = client;
    if (step.lost === "answer") this.#cut(client, socketId);
    this.#perform(this.#room.receive(socketId, JSON.stringify(pending)));
    if (step.lost === "answer") this.#perform(this.#room.close(socketId));
  }

  #messageOf(step: Asking): { readonly type: string; readonly data: object } {
    const store = "s";
    switch (step.type) {
      case "set":
        return { type: "STORE_SET", data: { store, key: `k${step.key}`, value: { by: step.who } } };
      case "merge":
        return {
          type: "STORE_UPDATE",
          data: { store, key: `k${step.key}`, value: { [step.who]: this.#ids } },
        };
      case "remove":
        return { type: "STORE_DELETE", data: { store, key: `k${step.key}` } };
      case "batch": {
        const set = (key: string) => ({ type: "STORE_SET", store, key, value: { batch: this.#ids } });
        return { type: "STORE_BATCH", data: { operations: [set("k0"), set("k1"), set(`b${step.who}`)] } };
      }
      case "comment":
        return { type: "COMMENT_CREATE", data: { text: `Comment ${this.#ids}` } };
      case "react": {
        const [comment] = this.#storage().comments.list({ threadId: null, resolved: null }, 1, 0);
        if (comment === undefined) return { type: "COMMENT_CREATE", data: { text: `First ${this.#ids}` } };
        return { type: "COMMENT_REACT", data: { commentId: comment.id, reaction: "👍" } };
      }
      case "follow":
      case "unfollow": {
        const type = step.type === "follow" ? "USER_FOLLOW" : "USER_UNFOLLOW";
        const whom = this.#client(step.who + 1 + (step.whom % (this.#clients.length - 1)));
        return { type, data: { userId: whom.userId } };
      }
    }
  }

  #send(client: Client, message: object): void {
    if (client.socketId !== null) this.#perform(this.#room.receive(client.socketId, JSON.stringify(message)));
  }

  #flush(): void {
    if (!this.#isStirred) return;
    this.#isStirred = false;
    this.#perform(this.#room.flush());
  }

  #perform(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.type) {
        case "send":
          for (const id of effect.to) this.#owners.get(id)?.hear(JSON.parse(JSON.stringify(effect.message)));
          break;
        case "attach":
          if (this.#owners.has(effect.connection.id))
            this.#attachments.set(effect.connection.id, effect.connection);
          break;
        case "stir":
          this.#isStirred = true;
          break;
        case "admit": {
          const { id, request } = effect;
          const user = userRecord(request.token);
          this.#perform(this.#room.join(id, { admitted: true, room: ROOM, user, tokenExpiresAt: 1e15 }));
          break;
        }
        default:
          throw new Error(`${effect.type} was not asked for`);
      }
    }
  }

  /** All come back and nothing moves any more: now everybody must agree. */
  finish(): void {
    for (const client of this.#clients) this.#join(client);
    for (const client of this.#clients) this.#resend(client);
    this.#flush();
    const log = this.#storage()
      .changes.listAfter(0)
      .map(({ data, ...change }) => ({ ...change, data: JSON.parse(data) }));
    for (const client of this.#clients) {
      expect(client.pending).toEqual([]);
      expect(client.seen).toEqual(log);
      expect(new Map([...client.presence].map(([userId, { value }]) => [userId, value]))).toEqual(
        this.#shown,
      );
    }
    this.#checkEntries(log);
    this.#checkComments(log);
  }

  /** The store is what its changes say, so that none was applied twice or lost. */
  #checkEntries(log: readonly Change[]): void {
    const replayed = new Map<string, { value: unknown; version: number }>();
    for (const { seq, event, data } of log) {
      if (event !== "storeChanged") continue;
      const { key, action, value } = data as { key: string; action: string; value: unknown };
      if (action === "delete") replayed.delete(key);
      else replayed.set(key, { value, version: seq });
    }
    const entries = this.#storage().entries.list("s");
    const kept = entries.map(
      ({ key, value, version }) => [key, { value: JSON.parse(value), version }] as const,
    );
    expect(new Map(kept)).toEqual(replayed);
    expect(this.#storage().entries.figures("s").entries).toBe(entries.length);
  }

  #checkComments(log: readonly Change[]): void {
    const created = log.filter(({ event }) => event === "commentCreated");
    const texts = created.map(({ data }) => (data as { comment: { text: string } }).comment.text);
    expect(new Set(texts).size).toBe(texts.length);
    expect(this.#storage().comments.count({ threadId: null, resolved: null })).toBe(texts.length);
  }
}

const isJoinedRoom = (data: object): data is JoinedRoom => "sessionId" in data;
