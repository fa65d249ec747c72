/** The way into the room and back into it: connects, joins, and after each loss comes back and catches up. */

import { Emitter } from "../../core/emitter.ts";
import { AtriumError, type Fault } from "../../core/error.ts";
import { newId, type Runtime } from "../../core/runtime.ts";
import type { Role } from "../../wire/resources.ts";
import { ChangeStream } from "./change-stream.ts";
import { type Data, type Message, type ResponseFrame, readJoined } from "./frames.ts";
import { ReconnectTimer } from "./reconnect.ts";
import { faultOf, planReconnect } from "./reconnect-policy.ts";
import { Requests } from "./requests.ts";
import type { SocketEvents, SocketState } from "./socket.ts";
import { type Closure, Transport } from "./transport.ts";

/** A connection that lasted so long was no failed attempt. */
const STABLE_MS = 5_000;

const LEFT: Fault = { code: "DISCONNECTED", module: "Client", message: "disconnect() was called" };
const UNREACHABLE: Fault = {
  code: "CONNECTION_FAILED",
  module: "Client",
  message: "No connection could be opened: check the address, the network, and that the room exists",
};
const GONE: Fault = { code: "NOT_FOUND", module: "Rooms", message: "The room is not there, or no more" };
const UNREADABLE: Fault = {
  code: "INTERNAL_ERROR",
  module: "Client",
  message: "The answer to joining cannot be understood",
};

export interface ConnectionOptions {
  readonly url: string;
  readonly token: string;
  readonly reconnect: boolean;
}

export class Connection extends Emitter<SocketEvents> {
  readonly requests: Requests;
  readonly feed = new ChangeStream();
  readonly #options: ConnectionOptions;
  readonly #surroundings: Runtime;
  #state: SocketState = "idle";
  #link: Transport | null = null;
  /** What `join()` asked for, until the end. */
  #wish: { readonly role: Role | undefined } | null = null;
  #opening: PromiseWithResolvers<void> | null = null;
  #joining: PromiseWithResolvers<void> | null = null;
  /** Whether the latest link was ever open. */
  #wasOpened = false;
  /** Of the request to join over the present link. */
  #joinId: string | null = null;
  /** Since when everything is up to date; null while it is not. */
  #joinedAt: number | null = null;
  /** Why the service is about to close the link. */
  #refusal: Fault | null = null;
  readonly #retry: ReconnectTimer;

  constructor(options: ConnectionOptions, surroundings: Runtime) {
    super();
    this.#options = options;
    this.#surroundings = surroundings;
    this.requests = new Requests(surroundings);
    this.#retry = new ReconnectTimer(surroundings);
    this.feed.hear("authFailed", (data) => this.#refuseToken(data));
    this.feed.hear("mark", ({ mark }) => this.requests.tell("MARK", { mark }));
  }

  get state(): SocketState {
    return this.#state;
  }

  /** Settles when a socket is open. It is tried once: whether to try again is the caller's to say. */
  connect(): Promise<void> {
    if (this.#link?.isOpen) return Promise.resolve();
    this.#opening ??= Promise.withResolvers();
    const { promise } = this.#opening;
    if (this.#isAtRest) this.#begin();
    return promise;
  }

  /** Settles when the room was joined and all is known of it. From then on, losses are made good. */
  join(role?: Role): Promise<void> {
    if (this.#joinedAt !== null) return Promise.resolve();
    if (this.#joining !== null) return this.#joining.promise;
    this.#wish = { role };
    this.#joining = Promise.withResolvers();
    const { promise } = this.#joining;
    this.requests.accept();
    if (this.#isAtRest) this.#begin();
    else this.#sayJoin();
    return promise;
  }

  /** Ends it all at once. */
  disconnect(): void {
    if (this.#isAtRest) return;
    const wasConnected = this.#state === "connected";
    this.#stop(LEFT, "closed");
    if (wasConnected) this.emit("disconnected", { code: 1000, reason: LEFT.message });
  }

  get #isAtRest(): boolean {
    return this.#link === null && !this.#retry.isWaiting;
  }

  #begin(): void {
    this.#retry.reset();
    this.#state = "connecting";
    this.#open();
  }

  #open(): void {
    this.#wasOpened = false;
    try {
      const link: Transport = new Transport(this.#options.url, this.#surroundings, {
        opened: () => this.#opened(),
        received: (messages) => {
          for (const message of messages) if (this.#link === link) this.#receive(link, message);
        },
        ended: (ending) => this.#ended(ending),
      });
      this.#link = link;
    } catch (error) {
      // Browsers throw for addresses that a page may not connect to.
      this.#ended({ code: 1006, reason: String(error) });
    }
  }

  #opened(): void {
    this.#wasOpened = true;
    this.#opening?.resolve();
    this.#opening = null;
    if (this.#state === "connecting") {
      this.#state = "connected";
      this.emit("connected", undefined);
    }
    this.#sayJoin();
  }

  #sayJoin(): void {
    if (this.#wish === null || !this.#link?.isOpen || this.#joinId !== null) return;
    this.#joinId = newId();
    const data = { token: this.#options.token, ...this.#wish, since: this.feed.seq, batch: true };
    this.#link.send(JSON.stringify({ type: "JOIN_ROOM", requestId: this.#joinId, data }));
  }

  #receive(link: Transport, message: Message): void {
    if (message.kind === "event") this.feed.receive(message);
    else if (message.requestId === this.#joinId) this.#enter(link, message);
    else this.requests.settle(message);
  }

  #enter(link: Transport, { data, fault }: ResponseFrame): void {
    const joined = fault === null ? readJoined(data) : null;
    if (joined === null) {
      this.#refusal = fault ?? UNREADABLE;
      // After a refusal the service closes, with the code that says whether to come back.
      if (fault === null) this.#lose({ code: 4400, reason: UNREADABLE.message });
      return;
    }
    this.requests.resume((frame) => link.send(frame));
    this.feed.enter(joined).then(
      () => this.#link === link && this.#entered(),
      (error: unknown) => this.#link === link && this.#lose({ code: 1011, reason: String(error) }),
    );
  }

  #entered(): void {
    this.#joinedAt = this.#surroundings.now();
    this.#joining?.resolve();
    this.#joining = null;
    if (this.#state !== "reconnecting") return;
    this.#state = "connected";
    this.emit("reconnected", undefined);
  }

  #refuseToken({ code, message }: Data): void {
    const fault = { code: String(code), module: "Auth", message: String(message) };
    this.#refusal = fault;
    this.emit("authFailed", { code: fault.code, message: fault.message });
  }

  /** Gives up a link that still lives. */
  #lose(ending: Closure): void {
    this.#link?.drop();
    this.#ended(ending);
  }

  #ended(ending: Closure): void {
    const { code, reason } = ending;
    const wasConnected = this.#state === "connected";
    const wasStable = this.#joinedAt !== null && this.#surroundings.now() - this.#joinedAt >= STABLE_MS;
    if (wasStable) this.#retry.reset();
    const fault = this.#refusal ?? (this.#state === "connecting" ? UNREACHABLE : faultOf(code, reason));
    const wasWished = this.#wish !== null;
    const comeback = wasWished && this.#options.reconnect ? planReconnect(code, reason) : "never";
    if (comeback === "never") this.#stop(fault, wasWished ? "closed" : "idle");
    else this.#comeBack(comeback);
    if (comeback !== "never" && !this.#wasOpened) void this.#giveUpIfGone();

    if (wasConnected) this.emit("disconnected", ending);
    // Listeners may have ended it, or begun anew.
    if (this.#retry.isWaiting) this.emit("reconnecting", { attempt: this.#retry.attempt });
    else if (comeback === "never" && wasWished) this.emit("failed", { error: new AtriumError(fault) });
  }

  #comeBack(comeback: "soon" | "later"): void {
    this.#forgetLink();
    this.#state = "reconnecting";
    this.#retry.plan(comeback, () => this.#open());
  }

  async #giveUpIfGone(): Promise<void> {
    const wish = this.#wish;
    if (!(await this.#surroundings.isGone(this.#options.url))) return;
    if (this.#wish !== wish || this.#state !== "reconnecting") return;
    this.#stop(GONE, "closed");
    this.emit("failed", { error: new AtriumError(GONE) });
  }

  #stop(fault: Fault, state: "idle" | "closed"): void {
    this.#retry.cancel();
    this.#link?.drop();
    this.#forgetLink();
    this.#state = state;
    this.#wish = null;
    const error = new AtriumError(fault);
    this.#opening?.reject(error);
    this.#opening = null;
    this.#joining?.reject(error);
    this.#joining = null;
    this.requests.refuse(fault);
  }

  #forgetLink(): void {
    this.#link = null;
    this.#joinId = null;
    this.#joinedAt = null;
    this.#refusal = null;
    this.requests.pause();
  }
}
