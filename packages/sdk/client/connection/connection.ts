/** The connection to the room: carries out the effects of its state machine, and tells how it stands. */
import { Emitter } from "../../core/emitter.ts";
import { AtriumError, clientFault, errorOf, type Fault } from "../../core/error.ts";
import { Deferred, newId, type PageEvent, type Runtime } from "../../core/runtime.ts";
import type { Role } from "../../wire/resources.ts";
import { ChangeStream } from "./change-stream.ts";
import { type Data, isUser, type Joined, type Message, readFault, readJoined, UNREADABLE } from "./frames.ts";
import {
  type Circumstances,
  type Closure,
  type Effect,
  type Event,
  IDLE,
  isOver,
  LEFT,
  type State,
  step,
  type TimerName,
} from "./machine.ts";
import { NOT_JOINED, PendingRequests } from "./requests.ts";
import { type Claims, roomBelow, roomUrl, type Tokens } from "./token.ts";
import { Transport } from "./transport.ts";

/**
 * - `idle`: `connect()` or `join()` has not been called.
 * - `connecting`: the first attempt is on its way, until the room is joined and loaded.
 * - `connected`: the room is joined, and everything is up to date; after `connect()` alone, the socket is open.
 * - `reconnecting`: the connection was lost, or an attempt has failed, and it is being restored with everything that was missed.
 * - `closed`: `disconnect()` was called, or reconnecting cannot succeed.
 */
export type SocketState = "idle" | "connecting" | "connected" | "reconnecting" | "closed";

/** How the connection stands: another object after each change. */
export interface SocketStatus {
  readonly status: SocketState;
  /** Why the latest attempt failed, or why the connection is closed; null while it is connected and after `disconnect()`. */
  readonly error: AtriumError | null;
  /** Failed attempts since the last connection that lasted 5 seconds; 0 while there is one. */
  readonly attempt: number;
  /** When the next attempt begins, in epoch milliseconds by this device's clock; null while none waits. */
  readonly retryAt: number | null;
  /** Time since which `status` has its value, likewise. */
  readonly since: number;
}

export interface SocketEvents {
  /** Anything of {@link SocketStatus} has changed. */
  status: SocketStatus;
  connected: undefined;
  /** The socket was closed, with the WebSocket close code and reason. */
  disconnected: { readonly code: number; readonly reason: string };
  /** Attempts count from 1, and from 1 again after a connection that lasted. */
  reconnecting: { readonly attempt: number };
  /** The room, its users, presence and all synced stores are up to date again. */
  reconnected: undefined;
  /** The client has given up: pending requests fail with this error. */
  failed: { readonly error: AtriumError };
  /** The token was refused or has expired, or its user was deleted. `failed` follows. */
  authFailed: { readonly code: string; readonly message: string };
}

/** The target of a connection: a room, or the inbox of an identity. */
export interface Joinable {
  urlOf(base: string, claims: Claims): string;
  /** The type of the first message. */
  readonly type: string;
  /** Reads the response to it; null if it cannot be read. */
  read(data: Data): Joined | null;
}

/** A room that is gone refuses its socket by a close code, which a page can read. */
const ROOM: Joinable = {
  urlOf: (base, claims) => `${roomBelow(base, claims, "socket")}?refusal=close`,
  type: "JOIN_ROOM",
  read: readJoined,
};

/** A connection joins a room, unless the options say otherwise. */
interface ConnectionOptions extends Partial<Joinable> {
  readonly base: string;
  readonly tokens: Tokens;
  readonly reconnect: boolean;
}

/** The most online users in the response to a join; further pages follow. */
const ONLINE_PAGE = 200;
const OTHER_ROLE = clientFault("CONFLICT", "The room was joined with another role: call leave() first");
const NORMAL_CLOSURE = 1000;
const ABNORMAL_CLOSURE = 1006;
const FAILED = 1011;
const INVALID = 4400;
const PAGE_EVENTS: readonly PageEvent[] = ["online", "offline", "pageshow", "visibilitychange"];

const faultOf = (error: unknown): Fault => (error instanceof AtriumError ? error : readFault(error));

function statusOf({ phase, target, attempt }: Pick<State, "phase" | "target" | "attempt">): SocketState {
  if (phase === "idle" || phase === "closed") return phase;
  if (phase === "joined" || (phase === "open" && target === null)) return "connected";
  return attempt > 0 ? "reconnecting" : "connecting";
}

export class Connection extends Emitter<SocketEvents> {
  readonly requests: PendingRequests;
  readonly changeStream = new ChangeStream();
  readonly runtime: Runtime;
  readonly tokens: Tokens;
  /** The address of the service. */
  readonly base: string;
  readonly #options: ConnectionOptions & Joinable;
  #machine: State = IDLE;
  #status: SocketStatus;
  /** The fault in the status. */
  #fault: Fault | null = null;
  #retryAt: number | null = null;
  #transport: Transport | null = null;
  #joinId: string | null = null;
  #obtaining = new AbortController();
  #opening: Deferred | null = null;
  #joining: Deferred | null = null;
  /** The service is verifying a token: it takes one at a time. */
  #isRefreshing = false;
  #unlisten = () => {};
  readonly #timers = new Map<TimerName, () => void>();

  constructor(options: ConnectionOptions, runtime: Runtime) {
    super();
    this.#options = { ...ROOM, ...options };
    this.runtime = runtime;
    this.tokens = options.tokens;
    this.base = options.base;
    this.requests = new PendingRequests(runtime);
    this.#status = { status: "idle", error: null, attempt: 0, retryAt: null, since: runtime.date() };
    this.changeStream.handle("authFailed", (data) =>
      this.#dispatch({ type: "refused", fault: { ...readFault(data), module: "Auth" } }),
    );
    this.changeStream.handle("mark", ({ mark }) => this.requests.notify("MARK", { mark }));
  }

  get status(): SocketStatus {
    return this.#status;
  }

  get state(): SocketState {
    return this.#status.status;
  }

  get userId(): string {
    return this.tokens.claims?.userId ?? "";
  }

  get webSocket(): WebSocket | null {
    return this.#transport?.socket ?? null;
  }

  connect(): Promise<void> {
    if (this.#machine.phase === "open" || this.#machine.joinedAt !== null) return Promise.resolve();
    this.#opening ??= new Deferred();
    const { promise } = this.#opening;
    this.#dispatch({ type: "connect" });
    return promise;
  }

  /** Resolves when the room is joined and loaded. Lost connections are restored from then on; one that waits is restored now. */
  join(role?: Role): Promise<void> {
    const { phase, target } = this.#machine;
    if (role && target && phase !== "closed" && role !== (target.role ?? "editor"))
      return Promise.reject(new AtriumError(OTHER_ROLE));
    if (phase === "joined") return Promise.resolve();
    this.#joining ??= new Deferred();
    const { promise } = this.#joining;
    this.requests.accept();
    this.#dispatch({ type: "join", role });
    return promise;
  }

  disconnect(): void {
    this.#dispatch({ type: "disconnect" });
  }

  /** `authToken` has another token: an open connection gets it at once, and one that has failed tries again. */
  renew(): void {
    const { phase, error, target } = this.#machine;
    this.tokens.forget();
    if (phase === "joined" && !this.#isRefreshing) this.#dispatch({ type: "timer", name: "ask" });
    else if (phase === "closed" && error) this.join(target?.role).catch(() => {});
  }

  urlOf(...path: string[]): string {
    const { base, tokens } = this;
    return tokens.claims === null ? "" : roomUrl(base, tokens.claims, ...path);
  }

  get #circumstances(): Circumstances {
    return {
      now: this.runtime.now(),
      random: this.runtime.random(),
      receivedAt: this.#transport?.receivedAt ?? -Infinity,
      renewInMs: this.tokens.renewInMs,
      reconnect: this.#options.reconnect,
    };
  }

  #dispatch(event: Event): void {
    const before = this.#machine;
    const [state, ...effects] = step(before, event, this.#circumstances);
    this.#machine = state;
    if (isOver(state) !== isOver(before)) this.#listenToPage(!isOver(state));
    for (const effect of effects) if (this.#machine === state) this.#run(effect);
    // An effect may have led to another state, which has been reported already.
    if (this.#machine === state) this.#report(before, state, event);
  }

  #listenToPage(listens: boolean): void {
    this.#unlisten();
    const wake = ({ type }: globalThis.Event) => {
      const isHidden = type === "visibilitychange" && document.visibilityState === "hidden";
      if (!isHidden) this.#dispatch({ type: "wake", isBack: type !== "offline" });
    };
    const leave = (event: globalThis.Event) => {
      if ((event as PageTransitionEvent).persisted) this.#dispatch({ type: "shelved" });
    };
    const stops = listens
      ? [
          ...PAGE_EVENTS.map((name) => this.runtime.listen(name, wake)),
          this.runtime.listen("pagehide", leave),
        ]
      : [];
    this.#unlisten = () => {
      for (const stop of stops) stop();
    };
  }

  #run(effect: Effect): void {
    switch (effect.type) {
      case "askToken":
        this.#askToken(effect);
        break;
      case "forgetToken":
        this.tokens.forget();
        break;
      case "ping":
        this.#transport?.send("ping");
        break;
      case "open":
        this.#open(effect.token);
        break;
      case "join":
        this.#sendJoin(effect);
        break;
      case "refresh":
        this.#refresh(effect.token);
        break;
      case "timer":
        this.#setTimer(effect);
        break;
      case "drop":
        this.#drop(effect.code);
        break;
      case "settle":
        this.#settle(effect.what);
        break;
      case "stop":
        this.#stop(effect.fault);
        break;
    }
  }

  #settle(what: "opened" | "joined"): void {
    if (what === "joined") {
      this.#joining?.resolve();
      this.#joining = null;
    }
    this.#opening?.resolve();
    this.#opening = null;
  }

  #stop(fault: Fault): void {
    const error = errorOf(fault);
    for (const waiting of [this.#opening, this.#joining]) waiting?.reject(error);
    this.#opening = null;
    this.#joining = null;
    const hasFailed = this.#machine.error !== null && this.#machine.phase === "closed";
    this.requests.stop(fault, hasFailed ? fault : NOT_JOINED);
  }

  #setTimer({ name, delayMs }: Extract<Effect, { type: "timer" }>): void {
    this.#timers.get(name)?.();
    this.#timers.delete(name);
    if (delayMs === null) return;
    const end = () => {
      this.#timers.delete(name);
      this.#dispatch({ type: "timer", name });
    };
    this.#timers.set(name, this.runtime.after(delayMs, end));
  }

  /** A token that is there already is used at once. */
  #askToken({ reason }: Extract<Effect, { type: "askToken" }>): void {
    const { tokens } = this;
    const { current } = tokens;
    if (current !== null && !tokens.prepare && reason !== "renew") {
      this.#dispatch({ type: "token", token: current });
      return;
    }
    this.#obtaining.abort();
    const obtaining = new AbortController();
    this.#obtaining = obtaining;
    const answer = (event: Event) => obtaining.signal.aborted || this.#dispatch(event);
    tokens.take(reason, obtaining.signal).then(
      (token) => answer({ type: "token", token }),
      (error: unknown) => answer({ type: "tokenFailed", fault: faultOf(error) }),
    );
  }

  #open(token: string): void {
    const { claims } = this.tokens;
    if (claims === null) return;
    // Strangers do not learn which custom IDs exist.
    const protocols = claims.room[1] ? ["atrium", token] : undefined;
    try {
      const transport: Transport = new Transport(
        this.#options.urlOf(this.base, claims),
        this.runtime,
        {
          opened: () => this.#dispatch({ type: "opened" }),
          received: (message) => this.#receive(transport, message),
          closed: (closure) => this.#dispatch({ type: "lost", closure }),
        },
        protocols,
      );
      this.#transport = transport;
    } catch (error) {
      // Browsers throw for addresses that a page may not connect to.
      this.#lose(ABNORMAL_CLOSURE, String(error));
    }
  }

  #lose(code: number, reason: string): void {
    this.#dispatch({ type: "lost", closure: { code, reason } });
  }

  #sendJoin({ token, role }: Extract<Effect, { type: "join" }>): void {
    this.#joinId = newId();
    const { seq: since, epoch } = this.changeStream;
    const data = { token, role, since, epoch, batch: true, usersLimit: ONLINE_PAGE };
    this.#transport?.send(JSON.stringify({ type: this.#options.type, requestId: this.#joinId, data }));
  }

  #receive(transport: Transport, message: Message): void {
    if ("event" in message) {
      if (!this.changeStream.receive(message)) this.#lose(ABNORMAL_CLOSURE, "A change was missed");
    } else if (message.requestId !== this.#joinId) this.requests.settle(message);
    else if (message.fault !== null) this.#dispatch({ type: "refused", fault: message.fault });
    else this.#load(transport, message.data);
  }

  #load(transport: Transport, data: Data): void {
    const joined = this.#options.read(data);
    if (joined === null) {
      this.#dispatch({ type: "refused", fault: UNREADABLE });
      this.#lose(INVALID, UNREADABLE.message);
      return;
    }
    const { claims } = this.tokens;
    if (claims !== null && isUser(data.user)) {
      claims.userId ||= data.user.id;
      claims.room = [joined.room.id];
    }
    this.requests.resume((frame) => transport.send(frame));
    const isCurrent = () => this.#transport === transport;
    this.changeStream.join(joined).then(
      () => isCurrent() && this.#dispatch({ type: "loaded" }),
      (error: unknown) => isCurrent() && this.#lose(FAILED, String(error)),
    );
  }

  #refresh(token: string): void {
    const transport = this.#transport;
    this.#isRefreshing = true;
    const answer = (fault: Fault | null) => {
      if (this.#transport !== transport) return;
      this.#isRefreshing = false;
      this.#dispatch({ type: "refreshed", fault });
    };
    this.requests.send("TOKEN_REFRESH", { token }, { resend: false, read: () => {} }).then(
      () => answer(null),
      (error: unknown) => answer(faultOf(error)),
    );
  }

  #drop(code: number): void {
    this.#obtaining.abort();
    this.#joinId = null;
    this.#isRefreshing = false;
    this.#transport?.drop(code);
    this.#transport = null;
    this.requests.suspend();
  }

  /** The state as applications see it: the same object while it is equal. */
  #describe(state: State): SocketStatus {
    const { error: fault, retryAt } = state;
    const was = this.#status;
    const status = statusOf(state);
    const attempt = status === "connected" ? 0 : state.attempt;
    const isEqual =
      status === was.status && attempt === was.attempt && retryAt === this.#retryAt && fault === this.#fault;
    if (isEqual) return was;
    const date = this.runtime.date();
    const error = fault === this.#fault ? was.error : fault && errorOf(fault);
    this.#fault = fault;
    this.#retryAt = retryAt;
    return Object.freeze({
      status,
      error,
      attempt,
      retryAt: retryAt && date + retryAt - this.runtime.now(),
      since: status === was.status ? was.since : date,
    });
  }

  /** Reports changes. A listener may call `disconnect()` or `join()`: the rest is then no longer true. */
  #report(before: State, state: State, event: Event): void {
    const was = this.#status;
    const status = this.#describe(state);
    this.#status = status;
    const { error, attempt } = status;
    const isNew = state.phase !== before.phase;
    const reports: (() => void)[] = [];
    if (status !== was) reports.push(() => this.emit("status", status));
    if (was.status === "connected" && (isOver(state) || state.phase === "waiting"))
      reports.push(() => this.emit("disconnected", closureOf(event, state)));
    if (was.status !== "connected" && status.status === "connected")
      reports.push(() => this.emit(was.status === "reconnecting" ? "reconnected" : "connected", undefined));
    if (isNew && state.phase === "waiting") reports.push(() => this.emit("reconnecting", { attempt }));
    if (isNew && state.phase === "closed" && error !== null) {
      const { code, message } = error;
      if (code === "UNAUTHORIZED") reports.push(() => this.emit("authFailed", { code, message }));
      reports.push(() => this.emit("failed", { error }));
    }
    for (const report of reports) if (this.#machine === state) report();
  }
}

const closureOf = (event: Event, { error }: State): Closure =>
  event.type === "lost"
    ? event.closure
    : { code: error === null ? NORMAL_CLOSURE : ABNORMAL_CLOSURE, reason: (error ?? LEFT).message };
