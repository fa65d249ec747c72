/** Messages of a client's connection, both ways, with their sizes and their meaning in plain words. */
import type { AtriumClient } from "../client/index.ts";
import { inspectionOf } from "../client/inspected.ts";
import type { Inspection } from "../client/inspection.ts";
import type { PresenceUpdate } from "../client/presence.ts";
import { byteLength, isRecord } from "../core/json.ts";

/** A client with any declared stores. */
export type InspectedClient = Omit<AtriumClient, "stores">;

/** A message of the connection, or one of a batch. */
export interface Message {
  readonly number: number;
  readonly isSent: boolean;
  /** The type of a request, the name of an event, or the type of the request that is answered. */
  readonly type: string;
  readonly bytes: number;
  readonly at: Date;
  /** A sentence about it, such as “Bo’s cursor changed”. */
  readonly text: string;
}

type Data = Readonly<Record<string, unknown>>;

const KEPT = 200;
const KEPT_REQUESTS = 500;
const SECOND_MS = 1_000;

const REQUESTS: Readonly<Record<string, string>> = {
  JOIN_ROOM: "You asked to join the room",
  PRESENCE_SUBSCRIBE: "You asked for the presence of others",
  MARK: "You confirmed what you have read",
  COMMENT_CREATE: "You wrote a comment",
  COMMENT_UPDATE: "You changed a comment",
  COMMENT_DELETE: "You deleted a comment",
  COMMENT_RESOLVE: "You resolved or reopened a thread",
  COMMENT_REACT: "You reacted to a comment",
  COMMENT_LIST: "You asked for the comments",
  TOKEN_REFRESH: "You renewed your token",
};

/** Messages of requests that the service passes on to everyone else. */
const PASSED_ON = /^(PRESENCE_UPDATE|BROADCAST|STORE_(?!SYNC|GET)|COMMENT_(?!LIST))/;

const dataOf = (message: Data): Data => Object(message.data);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function haveChanged(names: readonly string[]): string {
  if (names.length > 1) return `${names.slice(0, -1).join(", ")} and ${names.at(-1)} have changed`;
  return `${names[0] ?? "presence"} has changed`;
}

const changedFields = (before: Data = {}, now: Data = {}): string[] =>
  Object.keys(now).filter((key) => JSON.stringify(now[key]) !== JSON.stringify(before[key]));

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // the client ignores it as well
  }
}

type Reader = (data: unknown) => void;
const watched = new WeakMap<WebSocket, Set<Reader>>();

/** The readers of what a socket sends. The socket is wrapped once and for all, so that each reader can come and go. */
function readersOf(socket: WebSocket): Set<Reader> {
  const known = watched.get(socket);
  if (known !== undefined) return known;
  const readers = new Set<Reader>();
  socket.send = new Proxy(socket.send, {
    apply(send, self, [data]) {
      send.call(self, data);
      for (const read of readers) read(data);
    },
  });
  watched.set(socket, readers);
  return readers;
}

/** Records the client's messages from its creation until {@link stop}. */
export class Traffic {
  readonly #client: InspectedClient;
  readonly #inspection: Inspection;
  readonly #requests = new Map<string, { readonly type: string; readonly at: number }>();
  readonly #presence = new Map<string, Data>();
  /** Texts of updates that the client has read; their messages have numbers for users. */
  readonly #read: string[] = [];
  readonly #stopPresence: () => void;
  #socket: WebSocket | null = null;
  #ignore = new AbortController();
  #latest = 0;
  /** Newest first. */
  #messages: readonly Message[] = [];

  constructor(client: InspectedClient) {
    this.#client = client;
    this.#inspection = inspectionOf(client);
    for (const [userId, state] of client.presence.getStates()) this.#presence.set(userId, state);
    this.#stopPresence = client.presence.sync("*", (update) => {
      this.#read.push(this.#presenceText(update));
      if (this.#read.length > KEPT) this.#read.shift();
    });
    this.messages();
  }

  /** The latest messages, newest first; answered pings are not among them. */
  messages(): readonly Message[] {
    const { webSocket } = this.#inspection.connection;
    if (webSocket !== this.#socket) this.#watch(webSocket);
    return this.#messages;
  }

  /** The bytes of the last second: sent, and received. */
  bytesPerSecond(): { readonly sent: number; readonly received: number } {
    const since = Date.now() - SECOND_MS;
    const total = { sent: 0, received: 0 };
    for (const { at, bytes, isSent } of this.#messages)
      if (at.getTime() >= since) total[isSent ? "sent" : "received"] += bytes;
    return total;
  }

  stop(): void {
    this.#stopPresence();
    this.#watch(null);
  }

  #watch(socket: WebSocket | null): void {
    this.#ignore.abort();
    this.#ignore = new AbortController();
    const { signal } = this.#ignore;
    this.#socket = socket;
    if (socket === null) return;
    const readers = readersOf(socket);
    const read = (data: unknown) => this.#record(data, true);
    readers.add(read);
    signal.addEventListener("abort", () => readers.delete(read));
    socket.addEventListener("message", ({ data }) => this.#record(data, false), { signal });
  }

  #record(data: unknown, isSent: boolean): void {
    if (data === "ping" || data === "pong") return;
    if (typeof data !== "string") {
      this.#recordDocument(data, isSent);
      return;
    }
    const messages = [parse(data)].flat().filter(isRecord);
    for (const message of messages) {
      const bytes = byteLength(messages.length === 1 ? data : JSON.stringify(message));
      this.#add({
        isSent,
        bytes,
        ...(isSent ? this.#describeSent(message) : this.#describeReceived(message)),
      });
    }
  }

  #recordDocument(data: unknown, isSent: boolean): void {
    const bytes = data instanceof ArrayBuffer || ArrayBuffer.isView(data) ? data.byteLength : 0;
    const text = isSent
      ? "You sent a change of a document, or your caret in it"
      : "A change of a document or a caret in it arrived";
    this.#add({ isSent, type: "document", bytes, text });
  }

  #add(message: Omit<Message, "number" | "at">): void {
    this.#latest += 1;
    this.#messages = [
      { ...message, number: this.#latest, at: new Date() },
      ...this.#messages.slice(0, KEPT - 1),
    ];
  }

  #nameOf(userId: unknown): string {
    if (userId === this.#client.userId) return "You";
    if (userId === null) return "Your back end";
    return this.#client.users.get({ userId: String(userId) })?.name ?? "Someone";
  }

  #describeSent(message: Data): Pick<Message, "type" | "text"> {
    const type = String(message.type);
    if (typeof message.requestId === "string") {
      if (this.#requests.size >= KEPT_REQUESTS) this.#requests.clear();
      this.#requests.set(message.requestId, { type, at: performance.now() });
    }
    const others = Math.max(this.#client.users.online.size - 1, 0);
    const to = PASSED_ON.test(type) ? `, for ${others} ${others === 1 ? "other" : "others"}` : "";
    return { type, text: sentText(type, dataOf(message)) + to };
  }

  #describeReceived(message: Data): Pick<Message, "type" | "text"> {
    if (message.type === "response") return this.#describeResponse(message);
    const [type, data] = [String(message.event), dataOf(message)];
    if (type !== "presence") return { type, text: this.#eventText(type, data) };
    if (listOf(data.updates).length === 0)
      return { type, text: `${data.every === undefined ? "Someone" : "No one else"} sees your presence now` };
    const texts = this.#read.splice(0).slice(-listOf(data.updates).length);
    return { type, text: texts.join("; ") || "Presence has changed" };
  }

  #describeResponse({ requestId, success, error }: Data): Pick<Message, "type" | "text"> {
    const request = this.#requests.get(String(requestId));
    this.#requests.delete(String(requestId));
    const type = request?.type ?? "response";
    const after = request ? ` after ${Math.max(Math.round(performance.now() - request.at), 1)} ms` : "";
    const verdict = success === true ? "confirmed" : `refused (${String(Object(error).code)})`;
    return { type, text: `The service ${verdict} it${after}` };
  }

  #presenceText({ userId, state }: PresenceUpdate): string {
    const [before, now]: Data[] = [this.#presence.get(userId) ?? {}, Object(state)];
    this.#presence.set(userId, now ?? {});
    if (state === null) return `${this.#nameOf(userId)} no longer shows anything`;
    const whose = userId === this.#client.userId ? "Your" : `${this.#nameOf(userId)}’s`;
    return `${whose} ${haveChanged(changedFields(before, now))}`;
  }

  #eventText(type: string, { store, key, action, by, comment, userId, from, event }: Data): string {
    const author = this.#nameOf(Object(comment).user_id);
    switch (type) {
      case "storeChanged":
        return `${this.#nameOf(by)} ${action === "delete" ? "deleted" : "wrote"} ${store}/${key}`;
      case "commentCreated":
        return `${author} wrote a comment`;
      case "commentUpdated":
        return `A comment by ${author} has changed`;
      case "commentDeleted":
        return `A comment by ${author} was deleted`;
      case "userJoined":
        return `${this.#nameOf(userId)} came online`;
      case "userLeft":
        return `${this.#nameOf(userId)} left`;
      case "broadcast":
        return `${this.#nameOf(from)} broadcast “${event}”`;
      case "mark":
        return "The service asks how far you have read";
      default:
        return `The service reports ${type}`;
    }
  }
}

function sentText(type: string, data: Data): string {
  const { patch, remove, operations, store, event } = data;
  switch (type) {
    case "PRESENCE_UPDATE": {
      const names = [...new Set([...Object.keys(Object(patch)), ...listOf(remove).map(String)])];
      return `Your ${haveChanged(names)}`;
    }
    case "STORE_BATCH": {
      const [first, ...rest] = listOf(operations).map((operation): Data => Object(operation));
      const verb = first?.type === "STORE_DELETE" ? "deleted" : "wrote";
      const others = rest.length === 0 ? "" : ` and ${rest.length} more`;
      return `You ${verb} ${first?.store}/${first?.key}${others}`;
    }
    case "STORE_SYNC":
      return `You asked for the store ${store}`;
    case "BROADCAST":
      return `You broadcast “${event}”`;
    default:
      return REQUESTS[type] ?? `You sent ${type}`;
  }
}
