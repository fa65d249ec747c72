/** The connection to the room: connects, joins, and after each loss reconnects and catches up. */

import { Deferred } from "../../core/deferred.ts";
import { Emitter } from "../../core/emitter.ts";
import { AtriumError, type Fault } from "../../core/error.ts";
import { newId, type Runtime } from "../../core/runtime.ts";
import type { Role } from "../../wire/resources.ts";
import { ChangeStream } from "./change-stream.ts";
import {
  type Data,
  type EventFrame,
  type Message,
  type ResponseFrame,
  readJoined,
  UNREADABLE,
} from "./frames.ts";
import { faultOf, planReconnect, type ReconnectDecision, ReconnectTimer } from "./reconnect.ts";
import { Requests } from "./requests.ts";
import type { SocketEvents, SocketState } from "./socket.ts";
import { socketUrl } from "./token.ts";
import { TokenRenewal } from "./token-renewal.ts";
import type { Tokens } from "./tokens.ts";
import { ABNORMAL_CLOSURE, type Closure, Transport } from "./transport.ts";

/** A connection that lasted this long was a success: attempts count from 1 again after it. */
const STABLE_MS = 5_000;

/** The close code that stands for a request that can never succeed. */
const INVALID = 4400;

const LEFT: Fault = { code: "DISCONNECTED", module: "Client", message: "disconnect() was called" };
const UNREACHABLE: Fault = {
  code: "CONNECTION_FAILED",
  module: "Client",
  message: "No connection: check the address, the network and the room",
};

const CUT: Closure = { code: 1006, reason: "Cut in DevTools" };

export interface ConnectionOptions {
  /** The address of the service for sockets. */
  readonly base: string;
  readonly tokens: Tokens;
  readonly reconnect: boolean;
}

export class Connection extends Emitter<SocketEvents> {
  readonly requests: Requests;
  readonly changes = new ChangeStream();
  readonly #options: ConnectionOptions;
  readonly #runtime: Runtime;
  readonly #reconnect: ReconnectTimer;
  #state: SocketState = "idle";
  #isCut = false;
  #transport: Transport | null = null;
  /** What `join()` asked for, until the connection is given up. */
  #target: { readonly role: Role | undefined } | null = null;
  #opening: Deferred | null = null;
  #joining: Deferred | null = null;
  readonly #renewal: TokenRenewal;
  /** Waits for a token; null while there is one. */
  #obtaining: AbortController | null = null;
  /** Whether another token was asked for since the service refused one. */
  #isSecondToken = false;
  /** The id of the request to join over the current socket. */
  #joinId: string | null = null;
  /** When everything was up to date; null while it is not. */
  #joinedAt: number | null = null;
  /** Why the service is about to close the socket. */
  #refusal: Fault | null = null;

  constructor(options: ConnectionOptions, runtime: Runtime) {
    super();
    this.#options = options;
    this.#runtime = runtime;
    this.requests = new Requests(runtime);
    this.#reconnect = new ReconnectTimer(runtime);
    this.#renewal = new TokenRenewal(options.tokens, this.requests, runtime);
    this.changes.handle("authFailed", (data) => this.#refuseToken(data));
    this.changes.handle("mark", ({ mark }) => this.requests.notify("MARK", { mark }));
  }

  get state(): SocketState {
    return this.#state;
  }

  /** The user of the token; empty before the first one. */
  get userId(): string {
    return this.#options.tokens.claims?.userId ?? "";
  }

  /** Resolves when a socket is open. Makes one attempt; the caller decides whether to try again. */
  connect(): Promise<void> {
    if (this.#transport?.isOpen) return Promise.resolve();
    this.#opening ??= new Deferred();
    const { promise } = this.#opening;
    if (this.#isInactive) this.#start();
    return promise;
  }

  /** Resolves when the room was joined and everything is loaded. From then on, lost connections are restored. */
  join(role?: Role): Promise<void> {
    if (this.#joinedAt !== null) return Promise.resolve();
    if (this.#joining !== null) return this.#joining.promise;
    this.#target = { role };
    this.#joining = new Deferred();
    const { promise } = this.#joining;
    this.requests.accept();
    if (this.#isInactive) this.#start();
    else this.#sendJoin();
    return promise;
  }

  /** Closes the connection at once; pending requests fail. */
  disconnect(): void {
    if (this.#isInactive) return;
    const wasConnected = this.#state === "connected";
    this.#stop(LEFT, "closed");
    if (wasConnected) this.emit("disconnected", { code: 1000, reason: LEFT.message });
  }

  /** The current socket, for DevTools; null while there is none. */
  get webSocket(): WebSocket | null {
    return this.#transport?.socket ?? null;
  }

  /** Whether `cut()` was called, and not `restore()` since. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Loses the connection as by a broken network, until `restore()` is called. For DevTools. */
  cut(): void {
    this.#isCut = true;
    if (this.#transport !== null) this.#abandon(CUT);
  }

  /** Ends what `cut()` began: attempts to reconnect can succeed, and the next one is made at once. */
  restore(): void {
    this.#isCut = false;
    this.#reconnect.runNow();
  }

  get #isInactive(): boolean {
    return this.#transport === null && this.#obtaining === null && !this.#reconnect.isWaiting;
  }

  #start(): void {
    this.#reconnect.reset();
    this.#state = "connecting";
    this.#open();
  }

  #open(): void {
    this.#withToken(() => this.#openSocket());
  }

  /** Runs `action` with a token, at once if there is one. */
  #withToken(action: (token: string) => void): void {
    const { tokens } = this.#options;
    const { current } = tokens;
    if (current !== null) {
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
    this.#refusal = error;
    this.#abandon({ code: error.retryable ? ABNORMAL_CLOSURE : INVALID, reason: error.message });
  }

  #openSocket(): void {
    const { base, tokens } = this.#options;
    if (tokens.claims === null) return;
    try {
      if (this.#isCut) throw new Error(CUT.reason);
      const transport: Transport = new Transport(socketUrl(base, tokens.claims), this.#runtime, {
        opened: () => this.#opened(),
        received: (messages) => {
          for (const message of messages)
            if (this.#transport === transport) this.#receive(transport, message);
        },
        closed: (closure) => this.#closed(closure),
      });
      this.#transport = transport;
    } catch (error) {
      // Browsers throw for addresses that a page may not connect to.
      this.#closed({ code: ABNORMAL_CLOSURE, reason: String(error) });
    }
  }

  #opened(): void {
    this.#opening?.resolve();
    this.#opening = null;
    if (this.#state === "connecting") {
      this.#state = "connected";
      this.emit("connected", undefined);
    }
    this.#sendJoin();
  }

  #sendJoin(): void {
    const isDue = this.#target !== null && this.#transport?.isOpen && this.#joinId === null;
    if (!isDue || this.#obtaining !== null) return;
    this.#withToken((token) => {
      this.#joinId = newId();
      const data = { token, ...this.#target, since: this.changes.seq, batch: true };
      this.#transport?.send(JSON.stringify({ type: "JOIN_ROOM", requestId: this.#joinId, data }));
    });
  }

  #receive(transport: Transport, message: Message): void {
    if (message.kind === "event") this.#receiveEvent(message);
    else if (message.requestId === this.#joinId) this.#receiveJoin(transport, message);
    else this.requests.settle(message);
  }

  #receiveEvent(event: EventFrame): void {
    if (!this.changes.receive(event))
      this.#abandon({ code: ABNORMAL_CLOSURE, reason: "A change was missed" });
  }

  #receiveJoin(transport: Transport, { data, fault }: ResponseFrame): void {
    const joined = fault === null ? readJoined(data) : null;
    if (joined === null) {
      this.#refusal = fault ?? UNREADABLE;
      // After a refusal the service closes the socket, with a code that says whether to reconnect.
      if (fault === null) this.#abandon({ code: 4400, reason: UNREADABLE.message });
      return;
    }
    this.requests.resume((frame) => transport.send(frame));
    this.changes.join(joined).then(
      () => this.#transport === transport && this.#joined(),
      (error: unknown) =>
        this.#transport === transport && this.#abandon({ code: 1011, reason: String(error) }),
    );
  }

  #joined(): void {
    this.#joinedAt = this.#runtime.now();
    this.#isSecondToken = false;
    this.#renewal.start();
    this.#joining?.resolve();
    this.#joining = null;
    if (this.#state !== "reconnecting") return;
    this.#state = "connected";
    this.emit("reconnected", undefined);
  }

  #refuseToken({ code, message }: Data): void {
    const fault = { code: String(code), module: "Auth", message: String(message) };
    this.#refusal = fault;
    if (!this.#canUseSecondToken) this.emit("authFailed", { code: fault.code, message: fault.message });
  }

  /** Whether the connection can go on, after a refused or expired token, with the next one. */
  get #canUseSecondToken(): boolean {
    const { reconnect, tokens } = this.#options;
    return this.#refusal?.code === "UNAUTHORIZED" && reconnect && tokens.isRenewable && !this.#isSecondToken;
  }

  #planReconnect(closure: Closure): ReconnectDecision {
    if (this.#target === null || !this.#options.reconnect) return "never";
    if (!this.#canUseSecondToken) return planReconnect(closure);
    this.#isSecondToken = true;
    this.#options.tokens.discard();
    return "soon";
  }

  /** Closes a socket that is still open, as if the service had closed it. */
  #abandon(closure: Closure): void {
    this.#transport?.drop();
    this.#closed(closure);
  }

  #closed(closure: Closure): void {
    const wasConnected = this.#state === "connected";
    const wasStable = this.#joinedAt !== null && this.#runtime.now() - this.#joinedAt >= STABLE_MS;
    if (wasStable) this.#reconnect.reset();
    const fault = this.#refusal ?? (this.#state === "connecting" ? UNREACHABLE : faultOf(closure));
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
    this.#resetTransport();
    this.#state = "reconnecting";
    this.#reconnect.schedule(decision, () => this.#open());
  }

  #stop(fault: Fault, state: "idle" | "closed"): void {
    this.#reconnect.cancel();
    this.#transport?.drop();
    this.#resetTransport();
    this.#state = state;
    this.#target = null;
    const error = new AtriumError(fault);
    this.#opening?.reject(error);
    this.#opening = null;
    this.#joining?.reject(error);
    this.#joining = null;
    this.requests.stop(fault);
  }

  #resetTransport(): void {
    this.#transport = null;
    this.#obtaining?.abort();
    this.#obtaining = null;
    this.#renewal.stop();
    this.#joinId = null;
    this.#joinedAt = null;
    this.#refusal = null;
    this.requests.suspend();
  }
}
