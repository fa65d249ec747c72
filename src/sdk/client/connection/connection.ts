/** The connection to the room: connects, joins, and after each loss reconnects and catches up. */

import { Emitter } from "../../core/emitter.ts";
import { AtriumError, clientFault, type Fault } from "../../core/error.ts";
import { Deferred, type Runtime } from "../../core/runtime.ts";
import type { Role } from "../../wire/resources.ts";
import { ChangeStream } from "./change-stream.ts";
import type { Data } from "./frames.ts";
import { faultOf, planReconnect, type ReconnectDecision, ReconnectTimer } from "./reconnect.ts";
import { NOT_JOINED, Requests } from "./requests.ts";
import {
  type Closure,
  type Joinable,
  ROOM,
  RoomSocket,
  type RoomSocketContext,
  type RoomSocketListener,
} from "./room-socket.ts";
import { roomUrl, type Tokens } from "./token.ts";

/**
 * - `idle`: `connect()` or `join()` has not been called.
 * - `connecting`: the first socket is being opened.
 * - `connected`: the socket is open.
 * - `reconnecting`: the connection was lost and is being restored, including everything that was missed.
 * - `closed`: `disconnect()` was called, or reconnecting cannot succeed.
 */
export type SocketState = "idle" | "connecting" | "connected" | "reconnecting" | "closed";

export interface SocketEvents {
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

const STABLE_MS = 5_000;

const LEFT = clientFault("DISCONNECTED", "disconnect() was called");
const UNREACHABLE = clientFault("CONNECTION_FAILED", "Connecting failed: check the network and the address");

/** A connection joins a room, unless the options say otherwise. */
interface ConnectionOptions extends Partial<Joinable> {
  readonly base: string;
  readonly tokens: Tokens;
  readonly reconnect: boolean;
}

export class Connection extends Emitter<SocketEvents> implements RoomSocketListener {
  readonly requests: Requests;
  readonly changeStream = new ChangeStream();
  readonly #options: ConnectionOptions;
  readonly context: RoomSocketContext;
  readonly #reconnect: ReconnectTimer;
  #state: SocketState = "idle";
  #socket: RoomSocket | null = null;
  /** The request of `join()`, until the connection is given up. */
  #target: { readonly role: Role | undefined } | null = null;
  #opening: Deferred | null = null;
  #joining: Deferred | null = null;
  #isSecondToken = false;

  constructor(options: ConnectionOptions, runtime: Runtime) {
    super();
    this.#options = options;
    this.requests = new Requests(runtime);
    const { requests, changeStream } = this;
    this.context = { ...ROOM, ...options, requests, changeStream, runtime };
    this.#reconnect = new ReconnectTimer(runtime);
    changeStream.handle("authFailed", (data) => this.#refuseToken(data));
    changeStream.handle("mark", ({ mark }) => requests.notify("MARK", { mark }));
  }

  get state(): SocketState {
    return this.#state;
  }

  get userId(): string {
    return this.#options.tokens.claims?.userId ?? "";
  }

  connect(): Promise<void> {
    if (this.#socket?.isOpen) return Promise.resolve();
    this.#opening ??= new Deferred();
    const { promise } = this.#opening;
    if (this.#isInactive) this.#start();
    return promise;
  }

  /** Resolves when the room is joined and loaded. Lost connections are restored from then on. */
  join(role?: Role): Promise<void> {
    if (typeof this.#socket?.joinedAt === "number") return Promise.resolve();
    if (this.#joining !== null) return this.#joining.promise;
    this.#target = { role };
    this.#joining = new Deferred();
    const { promise } = this.#joining;
    this.requests.accept();
    if (this.#isInactive) this.#start();
    else this.#socket?.join(role);
    return promise;
  }

  urlOf(...path: string[]): string {
    const { base, tokens } = this.#options;
    return tokens.claims === null ? "" : roomUrl(base, tokens.claims, ...path);
  }

  disconnect(): void {
    if (this.#isInactive && this.requests.failure === null) return;
    const wasConnected = this.#state === "connected";
    this.#stop(LEFT, "closed");
    if (wasConnected) this.emit("disconnected", { code: 1000, reason: LEFT.message });
  }

  get webSocket(): WebSocket | null {
    return this.#socket?.webSocket ?? null;
  }

  get #isInactive(): boolean {
    return this.#socket === null && !this.#reconnect.isWaiting;
  }

  #start(): void {
    this.#reconnect.reset();
    this.#state = "connecting";
    this.#open();
  }

  #open(): void {
    this.#socket = new RoomSocket(this.context, this);
    this.#socket.open();
  }

  opened(): void {
    this.#opening?.resolve();
    this.#opening = null;
    if (this.#state === "connecting") {
      this.#state = "connected";
      this.emit("connected", undefined);
    }
    if (this.#target !== null) this.#socket?.join(this.#target.role);
  }

  joined(): void {
    this.#isSecondToken = false;
    this.#joining?.resolve();
    this.#joining = null;
    if (this.#state !== "reconnecting") return;
    this.#state = "connected";
    this.emit("reconnected", undefined);
  }

  #refuseToken(data: Data): void {
    const [code, message] = [String(data.code), String(data.message)];
    if (this.#socket !== null) this.#socket.refusal = { code, module: "Auth", message };
    if (!this.#canUseSecondToken) this.emit("authFailed", { code, message });
  }

  /** Whether the next token can replace a refused or expired one. */
  get #canUseSecondToken(): boolean {
    const { reconnect, tokens } = this.#options;
    const isRefused = this.#socket?.refusal?.code === "UNAUTHORIZED";
    return isRefused && reconnect && tokens.isRenewable && !this.#isSecondToken;
  }

  #planReconnect(closure: Closure): ReconnectDecision {
    if (this.#target === null || !this.#options.reconnect) return "never";
    if (!this.#canUseSecondToken) return planReconnect(closure);
    this.#isSecondToken = true;
    this.#options.tokens.discard();
    return "soon";
  }

  ended(closure: Closure): void {
    const { refusal, joinedAt } = this.#socket ?? { refusal: null, joinedAt: null };
    const wasConnected = this.#state === "connected";
    const wasStable = joinedAt !== null && this.context.runtime.now() - joinedAt >= STABLE_MS;
    if (wasStable) this.#reconnect.reset();
    const fault = refusal ?? (this.#state === "connecting" ? UNREACHABLE : faultOf(closure));
    const hadTarget = this.#target !== null;
    const decision = this.#planReconnect(closure);
    if (decision === "never") this.#stop(fault, hadTarget ? "closed" : "idle");
    else this.#reopen(decision);

    if (wasConnected) this.emit("disconnected", closure);
    // A listener may have called disconnect() or join().
    if (this.#reconnect.isWaiting) this.emit("reconnecting", { attempt: this.#reconnect.attempt });
    else if (decision === "never" && hadTarget) this.emit("failed", { error: new AtriumError(fault) });
  }

  #reopen(decision: "soon" | "later"): void {
    this.#drop();
    this.#state = "reconnecting";
    this.#reconnect.scheduleNext(decision, () => this.#open());
  }

  #stop(fault: Fault, state: "idle" | "closed"): void {
    this.#reconnect.cancel();
    this.#drop();
    this.#state = state;
    const hasFailed = this.#target !== null && fault !== LEFT;
    this.#target = null;
    const error = new AtriumError(fault);
    this.#opening?.reject(error);
    this.#opening = null;
    this.#joining?.reject(error);
    this.#joining = null;
    this.requests.stop(fault, hasFailed ? fault : NOT_JOINED);
  }

  #drop(): void {
    this.#socket?.drop();
    this.#socket = null;
  }
}
