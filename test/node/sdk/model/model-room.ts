/** A room in memory that speaks the protocol of stores, over connections whose messages a test delivers one by one. */
import { CLOSE_CODES } from "@atrium/contract/close-codes.ts";
import type { Data } from "../../../../packages/sdk/client/connection/frames.ts";
import { isRecord } from "../../../../packages/sdk/core/json.ts";
import type { User as UserRecord } from "../../../../packages/sdk/wire/resources.ts";
import { ModelSocket } from "./model-socket.ts";

interface Change {
  readonly seq: number;
  readonly event: "storeChanged";
  readonly data: Data;
}

interface Download {
  readonly socket: ModelSocket;
  readonly store: string;
  /** Whether one response has all parts. */
  readonly inLines: boolean;
  after: unknown;
}

interface StoredEntry {
  readonly value: unknown;
  readonly version: number;
}

interface Request {
  readonly type: string;
  readonly requestId: string;
  readonly data: Data;
}

type Result = { readonly version?: number; readonly seq: number } | { readonly error: Refusal };

export interface Refusal {
  readonly code: string;
  readonly module: string;
  readonly message: string;
}

const CONFLICT: Refusal = { code: "CONFLICT", module: "Rooms", message: "Refused" };
const PAGE = 3;
/** A store with more entries is downloaded by clients that want it. */
const SMALL = 2;
/** Lines arrive in pieces that end anywhere. */
const CHUNK_BYTES = 7;

export class ModelRoom {
  readonly sockets = new Set<ModelSocket>();
  #stores = new Map<string, Map<string, StoredEntry>>();
  /** Downloads by their URLs. */
  readonly #downloads = new Map<string, Download>();
  #receipts = new Map<string, { readonly frame: string; readonly data: Data }>();
  /** How many users each `USERS_GET` has named. */
  readonly lookUps: number[] = [];
  /** Users in the answer to `USERS_GET`, newest first. The answer to a join has room for none of the follows. */
  users: readonly UserRecord[] = [];
  follows: Readonly<Record<string, readonly string[]>> = {};
  /** Users online, by a number in the order in which they came. */
  readonly #online = new Map<number, UserRecord>();
  #joins = 0;
  #log: Change[] = [];
  #seq = 0;
  /** The latest change of each epoch that has ended; of the present one, Infinity. */
  #epochs = new Map<string, number>();
  #epoch = "";
  /** The writes that changed something, in their order. */
  readonly applied: Data[] = [];
  /** Why the room refuses a request; null for one that it carries out. */
  refusalOf: (type: string, data: Data) => Refusal | null = () => null;
  /** The values that the room refuses. */
  isRefused: (value: unknown) => boolean = () => false;

  /** Opens a connection for a client. */
  open(userId: string): ModelSocket {
    const socket = new ModelSocket(userId, (frame) => this.#handle(socket, frame));
    this.sockets.add(socket);
    return socket;
  }

  entries(store: string): Record<string, unknown> {
    const entries = [...(this.#stores.get(store) ?? [])].map(([key, { value }]) => [key, value]);
    return Object.fromEntries(entries);
  }

  /** Forgets the changes, so that a client that missed some has to load everything again. */
  forgetChanges(): void {
    this.#log = [];
  }

  /** Returns a function that restores the present storage of the room, which breaks its connections. */
  backUp(): () => void {
    const [stores, receipts] = [structuredClone(this.#stores), new Map(this.#receipts)];
    const [log, seq, epoch, epochs] = [[...this.#log], this.#seq, this.#epoch, new Map(this.#epochs)];
    return () => {
      this.#stores = structuredClone(stores);
      this.#receipts = new Map(receipts);
      [this.#log, this.#seq, this.#epoch, this.#epochs] = [[...log], seq, epoch, new Map(epochs)];
      for (const socket of this.sockets) socket.cut();
      this.#begin();
    };
  }

  #begin(): void {
    if (this.#epoch !== "") this.#epochs.set(this.#epoch, this.#seq);
    this.#epoch = crypto.randomUUID();
    this.#epochs.set(this.#epoch, Number.POSITIVE_INFINITY);
  }

  /** Carries out a write of the organization. */
  write(store: string, key: string, value: unknown): void {
    this.#apply({ type: "STORE_SET", store, key, value }, null);
  }

  #handle(socket: ModelSocket, frame: string): void {
    if (frame === "ping") {
      socket.pong();
      return;
    }
    const request = readRequest(frame);
    const refusal = this.refusalOf(request.type, request.data);
    if (refusal !== null) {
      this.#respond(socket, request, { error: refusal });
      if (request.type === "JOIN_ROOM") socket.end(CLOSE_CODES[refusal.code as keyof typeof CLOSE_CODES]);
      return;
    }
    if (request.type === "JOIN_ROOM") this.#join(socket, request);
    else this.#handleOnce(socket, request, frame);
  }

  /** Carries out the last request of a page. */
  post(userId: string, body: string): Response {
    const { requests }: { requests: Data[] } = JSON.parse(body);
    const page = new ModelSocket(userId, () => {});
    for (const { requestId, ...data } of requests)
      this.#handle(page, JSON.stringify({ type: "STORE_BATCH", requestId, data }));
    return Response.json({});
  }

  /** Answers a request that was answered before in the same way again. */
  #handleOnce(socket: ModelSocket, request: Request, frame: string): void {
    const id = `${socket.userId} ${request.requestId}`;
    const receipt = this.#receipts.get(id);
    if (receipt !== undefined && receipt.frame !== frame) throw new Error("The id names another request");
    const data = receipt?.data ?? this.#answer(socket, request);
    if (request.type === "STORE_BATCH") this.#receipts.set(id, { frame, data });
    this.#respond(socket, request, data);
  }

  #respond(socket: ModelSocket, { requestId }: Request, data: Data): void {
    const error = isRecord(data.error) ? data.error : null;
    socket.push({ type: "response", success: error === null, requestId, data, error });
  }

  #join(socket: ModelSocket, request: Request): void {
    if (this.#epoch === "") this.#begin();
    const { since, epoch } = request.data;
    const isKnown = epoch === undefined || Number(since) <= (this.#epochs.get(String(epoch)) ?? -1);
    const missed = typeof since === "number" && isKnown ? this.#changesSince(since) : null;
    socket.hasJoined = true;
    this.#respond(socket, request, {
      room: { id: "room", name: "Room" },
      role: "editor",
      ...this.#onlineAfter(),
      follows: {},
      presence: {},
      epoch: this.#epoch,
      seq: this.#seq,
      ...(missed === null ? { reset: true } : { changes: missed }),
    });
  }

  get online(): readonly UserRecord[] {
    return [...this.#online.values()];
  }

  /** A page of those who are online, behind a place. */
  #onlineAfter(place = 0): Data {
    const behind = [...this.#online].filter(([number]) => number > place);
    const page = behind.slice(0, PAGE);
    const users = page.map(([, user]) => user);
    return { users, ...(behind.length > PAGE && { next: page.at(-1)?.[0] }) };
  }

  /** A user comes online. */
  come(user: UserRecord): void {
    this.#joins += 1;
    this.#online.set(this.#joins, { ...user, status: "online" });
    this.#notify("userJoined", user);
  }

  /** A user goes offline. */
  leave(user: UserRecord): void {
    for (const [number, { id }] of this.#online) if (id === user.id) this.#online.delete(number);
    this.#notify("userLeft", user);
  }

  #notify(event: string, user: UserRecord): void {
    for (const socket of this.sockets)
      if (socket.hasJoined) socket.push({ type: "event", event, data: { userId: user.id, user } });
  }

  /** The latest change of each key after `since`; null if some are forgotten. */
  #changesSince(since: number): Change[] | null {
    if (since > this.#seq) return null;
    if (since < this.#seq && this.#log[0]?.seq !== 1 && (this.#log[0]?.seq ?? Infinity) > since + 1)
      return null;
    const latest = new Map<string, Change>();
    for (const change of this.#log.filter(({ seq }) => seq > since)) {
      const id = JSON.stringify([change.data.store, change.data.key]);
      latest.delete(id);
      latest.set(id, change);
    }
    return [...latest.values()];
  }

  #answer(socket: ModelSocket, { type, data }: Request): Data {
    if (type === "USERS_GET") {
      const behind = this.users.findIndex(({ id }) => isRecord(data.after) && id === data.after.id) + 1;
      const { userIds } = data;
      if (Array.isArray(userIds)) this.lookUps.push(userIds.length);
      const users = Array.isArray(userIds)
        ? this.users.filter(({ id }) => userIds.includes(id))
        : typeof data.search === "string"
          ? this.users.filter(({ name }) => name.includes(String(data.search))).slice(0, 20)
          : this.users.slice(behind, behind + 1_000);
      return { users, total: this.users.length, follows: this.follows, seq: this.#seq };
    }
    if (type === "USERS_ONLINE") return this.#onlineAfter(Number(data.after));
    if (type === "STORE_SYNC") return this.#offer(socket, data) ?? this.#page(String(data.store), data.after);
    if (type !== "STORE_BATCH" || !Array.isArray(data.operations)) return {};
    const operations = data.operations.filter(isRecord);
    if (data.atomic !== false) {
      const refusal = operations.map((each) => this.#check(each)).find((each) => each !== null);
      if (refusal !== undefined) return { error: refusal };
    }
    return { results: operations.map((each) => this.#apply(each, socket.userId)), seq: this.#seq };
  }

  #offer(socket: ModelSocket, { store, after, download, lines }: Data): Data | null {
    const size = this.#stores.get(String(store))?.size ?? 0;
    if (download !== true || after !== undefined || size <= SMALL) return null;
    const id = `${this.#downloads.size}`;
    // Services that know no lines respond with a single part.
    const inLines = lines === true && this.#downloads.size % 2 === 0;
    this.#downloads.set(id, { socket, store: String(store), inLines, after: undefined });
    return { entries: {}, seq: this.#seq, download: id, ...(inLines && { lineBytes: 1 }) };
  }

  /**
   * Responds with the next part of a download or, in lines, with all. Each part is read at once, while earlier
   * messages of the room may still be on their way, and arrives when `arrival` settles.
   */
  fetch(url: string, arrival: () => Promise<void>): Response {
    const download = this.#downloads.get(url.split("/").at(-1) ?? "");
    if (download === undefined || !download.socket.isOpen) return new Response(null, { status: 404 });
    const { inLines } = download;
    if (!inLines) return new Response(this.#readPart(download));
    let start = "[";
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      const isOpen = download.socket.isOpen;
      const line = `${start}${this.#readPart(download)}\n`;
      start = ",";
      await arrival();
      if (!isOpen) return controller.close();
      const bytes = new TextEncoder().encode(download.after === undefined ? `${line}]` : line);
      for (let from = 0; from < bytes.length; from += CHUNK_BYTES)
        controller.enqueue(bytes.slice(from, from + CHUNK_BYTES));
      if (download.after === undefined) controller.close();
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
  }

  #readPart(download: Download): string {
    const { entries, seq, next } = this.#page(download.store, download.after);
    download.after = next;
    const items = Object.entries(Object(entries)).flatMap(([key, entry]) => {
      const { value, version } = Object(entry);
      return [key, value, version];
    });
    return JSON.stringify({ entries: items, seq, next: next ?? null });
  }

  #page(store: string, after: unknown): Data {
    const keys = [...(this.#stores.get(store)?.keys() ?? [])].sort();
    const rest = keys.filter((key) => typeof after !== "string" || key > after);
    const page = rest.slice(0, PAGE);
    const entries = Object.fromEntries(page.map((key) => [key, this.#stores.get(store)?.get(key)]));
    return { entries, seq: this.#seq, ...(rest.length > PAGE ? { next: page.at(-1) } : {}) };
  }

  #check({ type, store, key, value, ifVersion }: Data): Refusal | null {
    const found = this.#stores.get(String(store))?.get(String(key));
    if (ifVersion !== undefined && ifVersion !== (found?.version ?? 0)) return CONFLICT;
    if (type === "STORE_UPDATE" && found !== undefined && !isRecord(found.value)) return CONFLICT;
    return this.isRefused(value) ? CONFLICT : null;
  }

  #apply(operation: Data, by: string | null): Result {
    const refusal = this.#check(operation);
    if (refusal !== null) return { error: refusal };
    const { type, store, key, value } = operation;
    const entries = this.#stores.get(String(store)) ?? new Map<string, StoredEntry>();
    this.#stores.set(String(store), entries);
    const found = entries.get(String(key));
    const isDeletion = type === "STORE_DELETE";
    if (isDeletion && found === undefined) return { seq: this.#seq };
    this.#seq += 1;
    const version = this.#seq;
    const merged =
      type === "STORE_UPDATE" && isRecord(found?.value) ? { ...found.value, ...Object(value) } : value;
    if (isDeletion) entries.delete(String(key));
    else entries.set(String(key), { value: merged, version });
    this.applied.push(operation);
    const action = String(type).replace("STORE_", "").toLowerCase();
    const data = { store, key, action, value: isDeletion ? null : merged, version, by, seq: version };
    this.#publish({ seq: version, event: "storeChanged", data });
    return isDeletion ? { seq: version } : { version, seq: version };
  }

  #publish(change: Change): void {
    this.#log.push(change);
    for (const socket of this.sockets) if (socket.hasJoined) socket.push({ type: "event", ...change });
  }
}

function readRequest(frame: string): Request {
  const message: unknown = JSON.parse(frame);
  if (!isRecord(message) || typeof message.type !== "string") throw new Error(`No request: ${frame}`);
  const data = isRecord(message.data) ? message.data : {};
  return { type: message.type, requestId: String(message.requestId), data };
}
