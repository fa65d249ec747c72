/** The open sockets of a shard of inboxes: their state across hibernation, their output, and their end. */

import { UNSENDABLE_CODES } from "@atrium/contract/close-codes.ts";
import { CLOSE, type CloseCode, type Fault, PING, PONG } from "../../../room/protocol/protocol.ts";
import { Output, SlowReaders } from "../../../room/transport/output.ts";
import type { InboxAccess, InboxCaller } from "../recipients/access.ts";
import type { IdentityEpochs } from "../recipients/store.ts";

export interface Waiting {
  readonly phase: "waiting";
  readonly identityId: string;
  readonly address: string;
  /** Epoch ms. */
  readonly openedAt: number;
}

export interface Joined extends InboxCaller {
  readonly phase: "joined";
  readonly epochs: IdentityEpochs;
  /** Epoch ms. */
  readonly expiresAt: number;
}

interface SocketPorts {
  readonly state: DurableObjectState;
  now(): number;
}

const JOIN_MS = 10_000;
/** A client that reads so much in one life of the shard may come back for more. */
const SENT_BYTES = 16 * 1024 * 1024;
/** Sockets are closed at most so long after their tokens have expired; what is pushed meanwhile passes them over. */
const EXPIRY_GRID_MS = 10_000;

const TOKEN_ENDED: Fault = {
  module: "Auth",
  code: "UNAUTHORIZED",
  message: "The token has expired or was ended, or its identity deleted",
};

const CLOSE_OF: Readonly<Partial<Record<Fault["code"], CloseCode>>> = {
  UNAUTHORIZED: CLOSE.unauthorized,
  FORBIDDEN: CLOSE.forbidden,
  CONFLICT: CLOSE.tooManySockets,
  RATE_LIMITED: CLOSE.flooding,
  VALIDATION_ERROR: CLOSE.protocolBroken,
};

export const attachmentOf = (socket: WebSocket) => socket.deserializeAttachment() as Waiting | Joined | null;

interface Reader {
  readonly socket: WebSocket;
  readonly output: Output;
}

export class InboxSockets {
  readonly #ports: SocketPorts;
  readonly #timers = new Map<WebSocket, ReturnType<typeof setTimeout>>();
  /** In memory only, as a room's: the shard hibernates when it has sent nothing for a while. */
  readonly #readers = new WeakMap<WebSocket, Reader>();
  readonly #slowReaders = new SlowReaders<Reader>(() =>
    this.in("joined").map((socket) => this.#readerAt(socket)),
  );

  constructor(ports: SocketPorts) {
    this.#ports = ports;
    ports.state.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    for (const socket of this.in("waiting")) this.#awaitJoin(socket);
  }

  /** The sockets of an identity, or of all of them. */
  in(phase: "waiting" | "joined", identityId?: string): WebSocket[] {
    const sockets = this.#ports.state.getWebSockets(identityId);
    return sockets.filter((socket) => attachmentOf(socket)?.phase === phase);
  }

  /** Accepts a socket that has yet to join. */
  accept(waiting: Waiting): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    this.#ports.state.acceptWebSocket(server, [waiting.identityId]);
    server.serializeAttachment(waiting);
    this.#awaitJoin(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  #awaitJoin(socket: WebSocket): void {
    const end = () => this.close(socket, CLOSE.joinTimeout, "not joined in time");
    this.#timers.set(socket, setTimeout(end, JOIN_MS));
  }

  /** The socket has joined, or joined anew, by a token. */
  join(socket: WebSocket, joined: Joined): void {
    this.#forgetTimer(socket);
    socket.serializeAttachment(joined);
  }

  /** The number of sockets of an identity that have joined, and of those that were closed and still hold output. */
  countJoined(identityId: string): number {
    const isHeld = (socket: WebSocket) =>
      attachmentOf(socket) === null && this.#readers.get(socket)?.output.isHeld === true;
    const held = this.#ports.state.getWebSockets(identityId).filter(isHeld);
    return this.in("joined", identityId).length + held.length;
  }

  /** A joined socket of an identity that has sent no ping for so long; null without one. */
  findSilent(identityId: string, silentMs: number): WebSocket | null {
    const since = this.#ports.now() - silentMs;
    const isSilent = (socket: WebSocket) => {
      const pingedAt = this.#ports.state.getWebSocketAutoResponseTimestamp(socket);
      return pingedAt !== null && pingedAt.getTime() < since;
    };
    return this.in("joined", identityId).find(isSilent) ?? null;
  }

  /** The identities that have joined, or are about to. */
  get identityIds(): ReadonlySet<string> {
    const sockets = this.#ports.state.getWebSockets();
    return new Set(sockets.flatMap((socket) => attachmentOf(socket)?.identityId ?? []));
  }

  /** Closes sockets whose tokens have expired. Returns when to look for the next ones (epoch ms). */
  closeExpired(): number | null {
    const expiries = this.closeEnded(this.in("joined"));
    return expiries.length === 0 ? null : onGrid(Math.min(...expiries));
  }

  /** Closes those of the sockets whose tokens have expired or, as `access` has it, were ended. Returns when the others expire. */
  closeEnded(sockets: readonly WebSocket[], access?: InboxAccess): number[] {
    return sockets.flatMap((socket) => {
      const { epochs, expiresAt } = attachmentOf(socket) as Joined;
      const isOver = expiresAt <= this.#ports.now() || (access !== undefined && !isCurrent(epochs, access));
      if (isOver) this.refuse(socket, TOKEN_ENDED);
      return isOver ? [] : [expiresAt];
    });
  }

  /** Closes the sockets of an identity, or all of them, because no token that they know is valid any more. */
  closeAll(identityId?: string): void {
    for (const socket of this.#ports.state.getWebSockets(identityId))
      if (attachmentOf(socket) !== null) this.refuse(socket, TOKEN_ENDED);
  }

  /** Says why, as far as a page has to know it, and closes the socket. */
  refuse(socket: WebSocket, { code, message }: Fault): void {
    if (code === "UNAUTHORIZED" || code === "FORBIDDEN")
      this.send(socket, { type: "event", event: "authFailed", data: { code, message } });
    this.close(socket, CLOSE_OF[code] ?? CLOSE.failed, message);
  }

  send(socket: WebSocket, message: object): void {
    const frame = JSON.stringify(message);
    try {
      socket.send(frame);
    } catch {
      return; // The socket is closing, and its client reads the inbox anew when it comes back.
    }
    this.#slowReaders.count(this.#readerAt(socket), frame.length, frame.length, this.#ports.now());
    for (const slow of this.#slowReaders.take())
      this.close(slow.socket, CLOSE.readerTooSlow, "reader too slow");
  }

  #readerAt(socket: WebSocket): Reader {
    const reader = this.#readers.get(socket) ?? { socket, output: new Output(false, SENT_BYTES) };
    this.#readers.set(socket, reader);
    return reader;
  }

  close(socket: WebSocket, code: number, reason: string): void {
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
    this.close(socket, UNSENDABLE_CODES.has(code) ? CLOSE.left : code, reason);
  }

  #forgetTimer(socket: WebSocket): void {
    clearTimeout(this.#timers.get(socket));
    this.#timers.delete(socket);
  }
}

/** When a socket whose token expires at `time` is closed. */
export const onGrid = (time: number): number => Math.ceil(time / EXPIRY_GRID_MS) * EXPIRY_GRID_MS;

export const isCurrent = ({ identity, account }: IdentityEpochs, { epochs }: InboxAccess): boolean =>
  epochs?.identity === identity && epochs.account === account;
