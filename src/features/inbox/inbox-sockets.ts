/** The sockets of a shard of inboxes: joins by identities' tokens, and pushes with the count that is right when they are sent. */

import { UNSENDABLE_CODES } from "../../platform/close-codes.ts";
import { TokenBucket } from "../../platform/flow/token-bucket.ts";
import { byteLength, isTooDeep, parseJson } from "../../platform/text.ts";
import { presentTime } from "../../platform/time.ts";
import { failure, INTERNAL_FAULT, success } from "../../room/protocol/frame.ts";
import { isRecord } from "../../room/protocol/messages.ts";
import { CLOSE, type CloseCode, type Fault, PING, PONG } from "../../room/protocol/protocol.ts";
import { Output, SlowReaders } from "../../room/transport/output.ts";
import { beingRestored, type IdentityClaims, RESTORING_EPOCH } from "../../wire/token-claims.ts";
import { type InboxAccess, type Viewer, visibleRooms } from "./access.ts";
import type { InboxStore } from "./inbox-store.ts";
import type { ChangedItem } from "./schema.ts";
import type { IdentityEpochs } from "./store.ts";

interface Waiting {
  readonly phase: "waiting";
  readonly identityId: string;
  readonly address: string;
  /** Epoch ms. */
  readonly openedAt: number;
}

interface Joined extends Viewer {
  readonly phase: "joined";
  readonly epochs: IdentityEpochs;
  /** Epoch ms. */
  readonly expiresAt: number;
}

/** Items that have changed; those of `notified` have a further activity, and those of `updated` have lost some. With `recounted`, others may be shown. */
export interface InboxChange {
  readonly type: "notified" | "updated" | "recounted" | "read" | "deleted";
  readonly items: readonly ChangedItem[];
}

interface SocketPorts {
  readonly state: DurableObjectState;
  accountId(): string;
  now(): number;
  store(identityId: string): InboxStore;
  /** The access to the rooms of the unread items, as they are when it is returned, and of others. */
  readAccess(identityId: string, roomIds: readonly string[]): Promise<InboxAccess>;
  verifyToken(token: string, now: number): Promise<IdentityClaims | null>;
  isTokenCurrent(claims: IdentityClaims): Promise<boolean>;
  /** Sockets of expired tokens are to be closed then (epoch ms). */
  expireAt(time: number): void;
  report(what: string, error: unknown): void;
}

const LIMITS = {
  joined: 20,
  waiting: 40,
  waitingOfAddress: 10,
  joinMs: 10_000,
  frameBytes: 8 * 1024,
  frameDepth: 40,
  tokenLength: 2_048,
  requestIdLength: 255,
  /** More items are named by none of their IDs. */
  named: 100,
  /** A client sends a ping every 20 seconds. */
  silentMs: 75_000,
  /** A client that reads so much in one life of the shard may come back for more. */
  sentBytes: 16 * 1024 * 1024,
};
const EVENTS = {
  updated: "inboxUpdated",
  recounted: "inboxUpdated",
  read: "inboxRead",
  deleted: "inboxDeleted",
} as const;
/** Sockets are closed at most so long after their tokens have expired; what is pushed meanwhile passes them over. */
const EXPIRY_GRID_MS = 10_000;
const FRAMES = { perSecond: 1, burst: 20 };

const refused = (code: Fault["code"], message: string, module: Fault["module"] = "Identities"): Fault => ({
  module,
  code,
  message,
});
const INVALID_TOKEN = refused("UNAUTHORIZED", "The token is invalid or has expired", "Auth");
const TOKEN_ENDED = refused(
  "UNAUTHORIZED",
  "The token has expired or was ended, or its identity deleted",
  "Auth",
);
const ANOTHER_INBOX = refused("FORBIDDEN", "The token is of another identity", "Auth");
const TOO_MANY = refused("CONFLICT", `An inbox has at most ${LIMITS.joined} open sockets`);

const CLOSE_OF: Readonly<Partial<Record<Fault["code"], CloseCode>>> = {
  UNAUTHORIZED: CLOSE.unauthorized,
  FORBIDDEN: CLOSE.forbidden,
  CONFLICT: CLOSE.tooManySockets,
  RATE_LIMITED: CLOSE.flooding,
  VALIDATION_ERROR: CLOSE.protocolBroken,
};

const attachmentOf = (socket: WebSocket) => socket.deserializeAttachment() as Waiting | Joined | null;

interface Reader {
  readonly socket: WebSocket;
  readonly output: Output;
}

export class InboxSockets {
  readonly #ports: SocketPorts;
  /** Sockets whose token is being verified. */
  readonly #verifying = new Set<WebSocket>();
  readonly #timers = new Map<WebSocket, ReturnType<typeof setTimeout>>();
  readonly #budgets = new WeakMap<WebSocket, TokenBucket>();
  /** In memory only, as a room's: the shard hibernates when it has sent nothing for a while. */
  readonly #readers = new WeakMap<WebSocket, Reader>();
  readonly #slowReaders = new SlowReaders<Reader>(() =>
    this.#in("joined").map((socket) => this.#readerAt(socket)),
  );
  /** By identity, the changes that are to follow those which are being pushed, and the end of pushing. */
  readonly #pushing = new Map<string, { readonly changes: InboxChange[]; readonly end: Promise<void> }>();
  /** Identities whose sockets are to receive their count anew. */
  readonly #recounts = new Set<string>();
  #isRecounting = false;
  /** Counts the identities in `#recounts` ever, for joins that read access meanwhile. */
  #recounted = 0;

  constructor(ports: SocketPorts) {
    this.#ports = ports;
    ports.state.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    for (const socket of this.#in("waiting")) this.#awaitJoin(socket);
  }

  /** The sockets of an identity, or of all of them. */
  #in(phase: "waiting" | "joined", identityId?: string): WebSocket[] {
    const sockets = this.#ports.state.getWebSockets(identityId);
    return sockets.filter((socket) => attachmentOf(socket)?.phase === phase);
  }

  /** Accepts a socket that has yet to join. Too many of them make the oldest one that has sent nothing give way. */
  accept(identityId: string, address: string): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    this.#ports.state.acceptWebSocket(server, [identityId]);
    server.serializeAttachment({
      phase: "waiting",
      identityId,
      address,
      openedAt: this.#ports.now(),
    } satisfies Waiting);
    this.#awaitJoin(server);
    this.#makeRoom(identityId, address);
    return new Response(null, { status: 101, webSocket: client });
  }

  #makeRoom(identityId: string, address: string): void {
    const sockets = this.#in("waiting", identityId);
    const waiting = sockets.map((socket) => ({ socket, ...(attachmentOf(socket) as Waiting) }));
    const ofAddress = waiting.filter((each) => each.address === address);
    const isCrowded = ofAddress.length > LIMITS.waitingOfAddress;
    if (!isCrowded && waiting.length <= LIMITS.waiting) return;
    const [leaving] = (isCrowded ? ofAddress : waiting)
      .filter(({ socket }) => !this.#verifying.has(socket))
      .sort((one, other) => one.openedAt - other.openedAt);
    if (leaving !== undefined)
      this.#close(leaving.socket, CLOSE.tooManySockets, "too many sockets are waiting");
  }

  #awaitJoin(socket: WebSocket): void {
    const end = () => this.#close(socket, CLOSE.joinTimeout, "not joined in time");
    this.#timers.set(socket, setTimeout(end, LIMITS.joinMs));
  }

  async receive(socket: WebSocket, frame: string | ArrayBuffer): Promise<void> {
    const attached = attachmentOf(socket);
    if (attached === null) return;
    if (
      typeof frame === "string" ? byteLength(frame) > LIMITS.frameBytes : frame.byteLength > LIMITS.frameBytes
    )
      return this.#close(socket, CLOSE.frameTooLarge, "frame too large");
    if (this.#spend(socket) < 0) return this.#close(socket, CLOSE.flooding, "too many frames");
    const json =
      typeof frame === "string" && !isTooDeep(frame, LIMITS.frameDepth) ? parseJson(frame) : undefined;
    const { type, requestId, data } = isRecord(json) ? json : {};
    const echoed =
      typeof requestId === "string" && requestId.length <= LIMITS.requestIdLength ? requestId : undefined;
    const token = isRecord(data) ? data.token : undefined;
    if (attached.phase === "waiting") {
      if (type !== "INBOX_JOIN" || this.#verifying.has(socket))
        return this.#close(socket, CLOSE.protocolBroken, "INBOX_JOIN must be the first and only message");
      return this.#verify(socket, attached, token, echoed);
    }
    if (type !== "TOKEN_REFRESH")
      return this.#send(socket, failure(refused("BAD_REQUEST", "Unknown message type"), echoed));
    if (this.#verifying.has(socket))
      return this.#send(
        socket,
        failure(refused("CONFLICT", "Another token is being verified; wait for its response"), echoed),
      );
    return this.#verify(socket, attached, token, echoed);
  }

  #spend(socket: WebSocket): number {
    const now = this.#ports.now();
    const budget = this.#budgets.get(socket) ?? new TokenBucket(FRAMES, now);
    this.#budgets.set(socket, budget);
    return budget.spend(1, now);
  }

  /** A refused join closes its socket; a refused refresh leaves it as it was. */
  async #verify(
    socket: WebSocket,
    attached: Waiting | Joined,
    token: unknown,
    requestId?: string,
  ): Promise<void> {
    this.#verifying.add(socket);
    const recounted = this.#recounted;
    const decision = await this.#decide(attached.identityId, token).catch((error: unknown): Fault => {
      this.#ports.report("A token of an inbox could not be verified", error);
      return INTERNAL_FAULT;
    });
    this.#verifying.delete(socket);
    if (attachmentOf(socket) === null) return; // it was closed meanwhile
    const fault = "code" in decision ? decision : this.#crowdedFor(attached);
    if (fault !== null) {
      this.#send(socket, failure(fault, requestId));
      if (attached.phase === "waiting") this.#refuse(socket, fault);
      return;
    }
    const { joined, access } = decision as Exclude<typeof decision, Fault>;
    this.#forgetTimer(socket);
    socket.serializeAttachment(joined);
    this.#ports.expireAt(onGrid(joined.expiresAt));
    const expiresAt = presentTime(joined.expiresAt);
    const description = attached.phase === "waiting" ? "Inbox joined" : "Token refreshed";
    this.#send(socket, success(description, { ...this.#counted(access, joined), expiresAt }, requestId));
    if (this.#recounted !== recounted) this.recount([attached.identityId]);
  }

  async #decide(
    identityId: string,
    token: unknown,
  ): Promise<Fault | { joined: Joined; access: InboxAccess }> {
    if (typeof token !== "string" || token.length > LIMITS.tokenLength) return INVALID_TOKEN;
    const claims = await this.#ports.verifyToken(token, this.#ports.now());
    if (claims === null) return INVALID_TOKEN;
    if (claims.accountId !== this.#ports.accountId() || claims.identityId !== identityId)
      return (await this.#ports.isTokenCurrent(claims)) ? ANOTHER_INBOX : INVALID_TOKEN;
    const access = await this.#ports.readAccess(identityId, []);
    const epochs = { identity: claims.identityEpoch, account: claims.accountEpoch };
    if (access.epochs?.account === RESTORING_EPOCH) {
      const { module, code, message } = beingRestored();
      return { module, code, message };
    }
    if (!isCurrent(epochs, access)) return INVALID_TOKEN;
    const expiresAt = claims.exp * 1000;
    const joined: Joined = {
      phase: "joined",
      identityId,
      epochs,
      expiresAt,
      ...(claims.rooms && { rooms: claims.rooms }),
    };
    return { joined, access };
  }

  /** The refusal of one more joined socket; null if one that is silent gives way. */
  #crowdedFor(attached: Waiting | Joined): Fault | null {
    if (attached.phase === "joined") return null;
    const joined = this.#in("joined", attached.identityId);
    const held = this.#ports.state
      .getWebSockets(attached.identityId)
      .filter((socket) => attachmentOf(socket) === null && this.#readers.get(socket)?.output.isHeld);
    if (joined.length + held.length < LIMITS.joined) return null;
    const silentSince = this.#ports.now() - LIMITS.silentMs;
    const silent = joined.find((socket) => {
      const pingedAt = this.#ports.state.getWebSocketAutoResponseTimestamp(socket);
      return pingedAt !== null && pingedAt.getTime() < silentSince;
    });
    if (silent === undefined) return TOO_MANY;
    this.#close(silent, CLOSE.silent, "silent");
    return null;
  }

  /** The unread items that a viewer sees, and the number of the latest change. */
  #counted(access: InboxAccess, viewer: Viewer) {
    const store = this.#ports.store(viewer.identityId);
    return { unread: countUnread(store, access, viewer, this.#ports.now()), seq: store.seq };
  }

  /** Pushes a change of an inbox behind the earlier ones, if there is a socket. */
  push(identityId: string, change: InboxChange): void {
    const isEmpty = change.items.length === 0 && change.type !== "recounted";
    if (isEmpty || this.#in("joined", identityId).length === 0) return;
    const pushing = this.#pushing.get(identityId);
    if (pushing !== undefined) {
      pushing.changes.push(change);
      return;
    }
    const changes = [change];
    const end = this.#pushAll(identityId, changes);
    this.#pushing.set(identityId, { changes, end });
    this.#ports.state.waitUntil(end);
  }

  /** Pushes to identities that others of their items may be shown: one after the other, so that the database is not flooded. */
  recount(identityIds: readonly string[]): void {
    for (const identityId of identityIds) this.#recounts.add(identityId);
    this.#recounted += identityIds.length;
    if (this.#isRecounting || this.#recounts.size === 0) return;
    this.#isRecounting = true;
    this.#ports.state.waitUntil(this.#recountAll());
  }

  async #recountAll(): Promise<void> {
    for (const identityId of this.#recounts) {
      this.#recounts.delete(identityId);
      this.push(identityId, { type: "recounted", items: [] });
      await this.#pushing.get(identityId)?.end;
    }
    this.#isRecounting = false;
  }

  /** The identities that have joined, or are about to. */
  get identityIds(): ReadonlySet<string> {
    const sockets = this.#ports.state.getWebSockets();
    return new Set(sockets.flatMap((socket) => attachmentOf(socket)?.identityId ?? []));
  }

  async #pushAll(identityId: string, changes: InboxChange[]): Promise<void> {
    while (changes.length > 0) {
      try {
        await this.#pushSome(identityId, changes.splice(0));
      } catch (error) {
        this.#ports.report("Changes of an inbox could not be pushed", error);
        for (const socket of this.#in("joined", identityId)) this.#close(socket, CLOSE.failed, "try again");
      }
    }
    this.#pushing.delete(identityId);
  }

  async #pushSome(identityId: string, changes: readonly InboxChange[]): Promise<void> {
    if (this.#in("joined", identityId).length === 0) return;
    const rooms = new Set(changes.flatMap(({ items }) => items.map(({ roomId }) => roomId)));
    const access = await this.#ports.readAccess(identityId, [...rooms]);
    this.#closeEnded(this.#in("joined", identityId), access);
    for (const socket of this.#in("joined", identityId)) {
      const viewer = attachmentOf(socket) as Joined;
      const shown = new Set(visibleRooms(access, viewer));
      const counted = this.#counted(access, viewer);
      for (const { type, items } of changes) {
        const ids = items.filter(({ roomId }) => shown.has(roomId)).map(({ id }) => id);
        if (ids.length === 0 && type !== "recounted") continue;
        if (type === "notified") this.#pushNotified(socket, identityId, ids, counted);
        else {
          const notificationIds = ids.length > LIMITS.named || type === "recounted" ? null : ids;
          const data = { notificationIds, ...counted };
          this.#send(socket, { type: "event", event: EVENTS[type], data });
        }
      }
    }
  }

  #pushNotified(socket: WebSocket, identityId: string, ids: readonly string[], counted: object): void {
    const store = this.#ports.store(identityId);
    const items = ids.flatMap((id) => store.find(id) ?? []); // without those that were deleted meanwhile
    for (const notification of store.present(items))
      this.#send(socket, { type: "event", event: "inboxNotification", data: { notification, ...counted } });
  }

  /** Closes sockets whose tokens have expired. Returns when to look for the next ones (epoch ms). */
  closeExpired(): number | null {
    const expiries = this.#closeEnded(this.#in("joined"));
    return expiries.length === 0 ? null : onGrid(Math.min(...expiries));
  }

  /** Closes those of the sockets whose tokens have expired or, as `access` has it, were ended. Returns when the others expire. */
  #closeEnded(sockets: readonly WebSocket[], access?: InboxAccess): number[] {
    return sockets.flatMap((socket) => {
      const { epochs, expiresAt } = attachmentOf(socket) as Joined;
      const isOver = expiresAt <= this.#ports.now() || (access !== undefined && !isCurrent(epochs, access));
      if (isOver) this.#refuse(socket, TOKEN_ENDED);
      return isOver ? [] : [expiresAt];
    });
  }

  /** Closes the sockets of an identity, or all of them, because no token that they know is valid any more. */
  closeAll(identityId?: string): void {
    for (const socket of this.#ports.state.getWebSockets(identityId))
      if (attachmentOf(socket) !== null) this.#refuse(socket, TOKEN_ENDED);
  }

  #refuse(socket: WebSocket, { code, message }: Fault): void {
    if (code === "UNAUTHORIZED" || code === "FORBIDDEN")
      this.#send(socket, { type: "event", event: "authFailed", data: { code, message } });
    this.#close(socket, CLOSE_OF[code] ?? CLOSE.failed, message);
  }

  #send(socket: WebSocket, message: object): void {
    const frame = JSON.stringify(message);
    try {
      socket.send(frame);
    } catch {
      return; // The socket is closing, and its client reads the inbox anew when it comes back.
    }
    this.#slowReaders.count(this.#readerAt(socket), frame.length, frame.length, this.#ports.now());
    for (const slow of this.#slowReaders.take())
      this.#close(slow.socket, CLOSE.readerTooSlow, "reader too slow");
  }

  #readerAt(socket: WebSocket): Reader {
    const reader = this.#readers.get(socket) ?? { socket, output: new Output(false, LIMITS.sentBytes) };
    this.#readers.set(socket, reader);
    return reader;
  }

  #close(socket: WebSocket, code: number, reason: string): void {
    this.#forgetTimer(socket);
    try {
      socket.serializeAttachment(null);
      socket.close(code, reason);
    } catch {
      // It is closed already.
    }
  }

  /** Completes a close that the client began. */
  answerClose(socket: WebSocket, code: number, reason: string): void {
    this.#close(socket, UNSENDABLE_CODES.has(code) ? CLOSE.left : code, reason);
  }

  #forgetTimer(socket: WebSocket): void {
    clearTimeout(this.#timers.get(socket));
    this.#timers.delete(socket);
  }
}

const onGrid = (time: number): number => Math.ceil(time / EXPIRY_GRID_MS) * EXPIRY_GRID_MS;

const isCurrent = ({ identity, account }: IdentityEpochs, { epochs }: InboxAccess): boolean =>
  epochs?.identity === identity && epochs.account === account;

/** The unread items that the viewer sees. */
export function countUnread(store: InboxStore, access: InboxAccess, viewer: Viewer, now: number): number {
  const shown = new Set(visibleRooms(access, viewer));
  return [...store.unreadByRoom(now)].reduce((sum, [id, count]) => (shown.has(id) ? sum + count : sum), 0);
}
