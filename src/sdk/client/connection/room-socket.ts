/** One socket to the room, from its token to its end: opens, joins, and hands over messages. */
import type { AtriumError, Fault } from "../../core/error.ts";
import { newId, type Runtime } from "../../core/runtime.ts";
import type { Role } from "../../wire/resources.ts";
import type { ChangeStream } from "./change-stream.ts";
import {
  type Data,
  isUser,
  type Joined,
  type Message,
  parseFrame,
  type ResponseFrame,
  readJoined,
  UNREADABLE,
} from "./frames.ts";
import type { Requests } from "./requests.ts";
import { type Claims, roomBelow, type Tokens } from "./token.ts";

const INVALID = 4400;

/** The most online users in the response to a join; further pages follow. */
const ONLINE_PAGE = 200;

/** The target of a socket: a room, or the inbox of an identity. */
export interface Joinable {
  urlOf(base: string, claims: Claims): string;
  /** The type of the first message. */
  readonly type: string;
  /** Reads the response to it; null if it cannot be read. */
  read(data: Data): Joined | null;
}

/** A room that is gone refuses its socket by a close code, which a page can read. */
export const ROOM: Joinable = {
  urlOf: (base, claims) => `${roomBelow(base, claims, "socket")}?refusal=close`,
  type: "JOIN_ROOM",
  read: readJoined,
};

export interface RoomSocketContext extends Joinable {
  readonly base: string;
  readonly tokens: Tokens;
  readonly requests: Requests;
  readonly changeStream: ChangeStream;
  readonly runtime: Runtime;
}

export interface RoomSocketListener {
  opened(): void;
  joined(): void;
  /** Called at most once, and not after {@link RoomSocket.drop}. */
  ended(closure: Closure): void;
}

export class RoomSocket {
  readonly #context: RoomSocketContext;
  readonly #listener: RoomSocketListener;
  #transport: Transport | null = null;
  #obtaining: AbortController | null = null;
  #joinId: string | null = null;
  joinedAt: number | null = null;
  /** Why the service is about to close the socket. */
  refusal: Fault | null = null;

  constructor(context: RoomSocketContext, listener: RoomSocketListener) {
    this.#context = context;
    this.#listener = listener;
  }

  get webSocket(): WebSocket | null {
    return this.#transport?.socket ?? null;
  }

  get isOpen(): boolean {
    return this.#transport?.isOpen === true;
  }

  open(): void {
    this.#withToken((token) => this.#open(token));
  }

  /** Runs `action` with a token, at once if there is one and nothing to prepare. */
  #withToken(action: (token: string) => void): void {
    const { tokens } = this.#context;
    const { current } = tokens;
    if (current !== null && !tokens.prepare) {
      action(current);
      return;
    }
    const obtaining = new AbortController();
    this.#obtaining = obtaining;
    const settle = (next: () => void) => {
      if (this.#obtaining !== obtaining) return;
      this.#obtaining = null;
      next();
    };
    tokens.obtain(obtaining.signal).then(
      (token) => settle(() => action(token)),
      (error: AtriumError) => settle(() => this.#failWithoutToken(error)),
    );
  }

  #failWithoutToken(error: AtriumError): void {
    this.refusal = error;
    this.end({ code: error.retryable ? ABNORMAL_CLOSURE : INVALID, reason: error.message });
  }

  #open(token: string): void {
    const { base, tokens, runtime, urlOf } = this.#context;
    const { claims } = tokens;
    if (claims === null) return;
    // Strangers do not learn which custom IDs exist.
    const protocols = claims.room[1] ? ["atrium", token] : undefined;
    try {
      const listener: TransportListener = {
        opened: () => this.#listener.opened(),
        received: (messages) => {
          for (const message of messages)
            if (this.#transport === transport) this.#receive(transport, message);
        },
        closed: (closure) => this.end(closure),
      };
      const transport = new Transport(urlOf(base, claims), runtime, listener, protocols);
      this.#transport = transport;
    } catch (error) {
      // Browsers throw for addresses that a page may not connect to.
      this.end({ code: ABNORMAL_CLOSURE, reason: String(error) });
    }
  }

  join(role: Role | undefined): void {
    if (!this.isOpen || this.#joinId !== null || this.#obtaining !== null) return;
    this.#withToken((token) => {
      this.#joinId = newId();
      const { seq: since, epoch } = this.#context.changeStream;
      const data = { token, role, since, epoch, batch: true, usersLimit: ONLINE_PAGE };
      this.#transport?.send(JSON.stringify({ type: this.#context.type, requestId: this.#joinId, data }));
    });
  }

  #receive(transport: Transport, message: Message): void {
    const { changeStream, requests } = this.#context;
    if ("event" in message) {
      if (!changeStream.receive(message)) this.end({ code: ABNORMAL_CLOSURE, reason: "A change was missed" });
    } else if (message.requestId === this.#joinId) this.#receiveJoin(transport, message);
    else requests.settle(message);
  }

  #receiveJoin(transport: Transport, { data, fault }: ResponseFrame): void {
    const joined = fault === null ? this.#context.read(data) : null;
    if (joined === null) {
      this.refusal = fault ?? UNREADABLE;
      // After a refusal the service closes the socket, with a code that says whether to reconnect.
      if (fault === null) this.end({ code: INVALID, reason: UNREADABLE.message });
      return;
    }
    const { changeStream, requests, runtime, tokens } = this.#context;
    const { claims } = tokens;
    if (claims !== null && isUser(data.user)) {
      claims.userId ||= data.user.id;
      claims.room = [joined.room.id];
    }
    requests.resume((frame) => transport.send(frame));
    changeStream.join(joined).then(
      () => {
        if (this.#transport !== transport) return;
        this.joinedAt = runtime.now();
        this.#renewToken();
        this.#listener.joined();
      },
      (error: unknown) => this.#transport === transport && this.end({ code: 1011, reason: String(error) }),
    );
  }

  /** Renews the token before it expires. Without the module, joining again renews it later. */
  #renewToken(): void {
    const { signal } = this.#context.requests;
    if (!this.#context.tokens.isRenewable) return;
    import("./token-renewal.ts").then(
      ({ renewTokens }) => renewTokens(this.#context, signal),
      () => {},
    );
  }

  /** Closes the socket, and reports the end as if the service had closed it. */
  end(closure: Closure): void {
    this.#transport?.drop(REPLACED);
    this.#listener.ended(closure);
  }

  /** Closes the socket without a report: requests wait for another one. */
  drop(): void {
    this.#transport?.drop(1000);
    this.#transport = null;
    this.#obtaining?.abort();
    this.#obtaining = null;
    this.#context.requests.suspend();
  }
}

/** The service closes connections that are silent for 75 s. Browsers run the timers of a hidden page once a minute. */
const PING_INTERVAL_MS = 20_000;
const TIMEOUT_MS = 15_000;
const ABNORMAL_CLOSURE = 1006;
/** The client closes a socket that it replaces with this code: its user has not left. */
const REPLACED = 4000;

const OPEN = 1;

export interface Closure {
  readonly code: number;
  readonly reason: string;
}

interface TransportListener {
  opened(): void;
  received(messages: readonly Message[]): void;
  closed(closure: Closure): void;
}

/** A WebSocket with a heartbeat: it counts as lost when nothing arrives in time. */
export class Transport {
  readonly #runtime: Runtime;
  readonly socket: WebSocket;
  readonly #listener: TransportListener;
  readonly #listening = new AbortController();
  #cancelTimer: () => void = () => {};
  #isAlive = false;
  isOpen = false;

  constructor(url: string, runtime: Runtime, listener: TransportListener, protocols?: string[]) {
    this.#runtime = runtime;
    this.#listener = listener;
    this.socket = runtime.open(url, protocols);
    const listening = { signal: this.#listening.signal };
    this.socket.addEventListener("open", () => this.#open(), listening);
    this.socket.addEventListener("message", ({ data }) => this.#receive(data), listening);
    this.socket.addEventListener("close", (event) => this.#close(event), listening);
    this.#pingAfter(TIMEOUT_MS);
  }

  #open(): void {
    this.isOpen = true;
    this.#isAlive = true;
    this.#cancelTimer();
    this.#pingAfter(PING_INTERVAL_MS);
    this.#listener.opened();
  }

  #receive(data: unknown): void {
    this.#isAlive = true;
    if (typeof data === "string" && data !== "pong") this.#listener.received(parseFrame(data));
  }

  #pingAfter(ms: number): void {
    this.#cancelTimer = this.#runtime.after(ms, () => {
      if (!this.#isAlive) return this.#close({ code: ABNORMAL_CLOSURE, reason: "The connection timed out" });
      this.#isAlive = false;
      this.send("ping");
      this.#pingAfter(PING_INTERVAL_MS);
    });
  }

  /** Sends a frame if the socket is open. A send on a closing socket would be logged as an error. */
  send(frame: string): void {
    if (this.isOpen && this.socket.readyState === OPEN) this.socket.send(frame);
  }

  #close({ code, reason }: Closure): void {
    this.drop(REPLACED);
    this.#listener.closed({ code, reason });
  }

  /** Closes the socket without a report, and ignores further messages. */
  drop(code: number): void {
    this.isOpen = false;
    this.#cancelTimer();
    this.#listening.abort();
    this.socket.close(code);
  }
}
