/** Requests over the socket: sent in order, and again after a reconnection until they are answered. */
import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import { type Rate, TokenBucket } from "@atrium/contract/pacing/token-bucket.ts";
import { AtriumError, clientFault, type Fault } from "../../core/error.ts";
import { toFrame } from "../../core/json.ts";
import { type Abortable, newId, type Runtime } from "../../core/runtime.ts";
import type { Data, ResponseFrame } from "./frames.ts";

/** Frames: below the rate at which the service closes connections (R60). */
export const SEND_RATE: Rate = { perSecond: 150, burst: 800 };
const RATE_DELAY_MS = 50;

export const NOT_JOINED = clientFault("NOT_JOINED", "Call join() first");
const LOST = clientFault("DISCONNECTED", "The connection was lost");

/** Stays below the number of waiting reads and broadcasts that the service allows a socket (R69, R80). */
const MAX_UNANSWERED = 24;
/** The pause after RATE_LIMITED. */
const REFUSED_BACKOFF = { firstMs: 1_000, maxMs: 10_000 };
const TOO_LATE = clientFault("TIMEOUT", "Not sent in time: check the network");

interface RequestOptions<Result> extends Abortable {
  /** Reads the data of a success, before any later message is handled. An error that it throws rejects the request. */
  readonly read: (data: Data) => Result;
  /** False for a request of the current connection only, which waits for no write. */
  readonly resend?: boolean;
  /** True for a request that only reads: earlier writes can be sent after it. */
  readonly overtakes?: boolean;
  /** A request that is older is not sent any more. */
  readonly validMs?: number;
}

/** Called once: posts a request that waited for writes or, with an error, fails it. */
export type WaitingRequest = (error?: AtriumError) => void;

interface Outcome {
  readonly succeed: (data: Data) => void;
  readonly fail: (error: AtriumError) => void;
}

interface Pending extends Outcome {
  readonly requestId: string;
  readonly frame: string;
  /** Reads and broadcasts, as opposed to batches of writes, which have a window of their own. */
  readonly isBounded: boolean;
  isSent: boolean;
  resend: boolean;
}

type Posting = Pick<Pending, "requestId" | "frame"> &
  Outcome &
  Partial<Pick<Pending, "resend" | "isBounded">>;

export class PendingRequests {
  readonly #runtime: Runtime;
  /** Requests in the order of the calls. */
  readonly #pending = new Map<string, Pending>();
  /** Bounded requests that are sent, and not answered. */
  #unanswered = 0;
  /** Answers RATE_LIMITED in a row, and the end of the pause that they ask for. */
  #refusals = 0;
  #pausedUntil = -Infinity;
  #connection = new AbortController();
  #channel: { readonly send: (frame: string) => void; readonly bucket: TokenBucket } | null = null;
  /** Requests before the first join wait for it. */
  #refusal: Fault | null = null;
  /** Why there will be no other connection; null until then, and from `join()` on. */
  ending: AtriumError | null = null;
  #cancelTimer = () => {};
  readonly #stopped: ((fault: Fault) => void)[] = [];
  #postInOrder = (request: WaitingRequest) => request();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  get isConnected(): boolean {
    return this.#channel !== null;
  }

  get signal(): AbortSignal {
    return this.#connection.signal;
  }

  /** Why the connection has failed; null before, and after `join()` or `disconnect()`. */
  get failure(): AtriumError | null {
    return this.#refusal === NOT_JOINED ? null : this.ending;
  }

  /** Throws NOT_JOINED after `disconnect()`, or why the connection has failed, unless requests are accepted. */
  check(): void {
    if (this.#refusal !== null) throw new AtriumError(this.#refusal);
  }

  /** Sends a request after the writes that were made before it, and returns the result of `read`. Throws AtriumError. */
  send<Result>(
    type: string,
    data: object,
    { read, resend = true, overtakes = !resend, signal, validMs }: RequestOptions<Result>,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      this.check();
      const requestId = newId();
      const frame = toFrame({ type, requestId, data });
      const giveUp = (reason: unknown) => {
        this.#giveUp(requestId);
        end(() => reject(reason));
      };
      const abort = () => giveUp(signal?.reason);
      let hasEnded = false;
      const cancel =
        validMs === undefined
          ? () => {}
          : this.#runtime.after(validMs, () => this.#expire(requestId, giveUp));
      const end = (settle: () => void) => {
        if (hasEnded) return;
        hasEnded = true;
        cancel();
        signal?.removeEventListener("abort", abort);
        settle();
      };
      signal?.addEventListener("abort", abort);
      const fail = (error: AtriumError) => end(() => reject(error));
      const succeed = (received: Data) =>
        end(() => {
          try {
            resolve(read(received));
          } catch (error) {
            reject(error);
          }
        });
      const request: WaitingRequest = (error) => {
        if (error) fail(error);
        else if (!hasEnded) this.post({ requestId, frame, resend, isBounded: resend, succeed, fail });
      };
      if (overtakes) request();
      else this.#postInOrder(request);
    });
  }

  onSending(handler: (request: WaitingRequest) => void): void {
    this.#postInOrder = handler;
  }

  /** Sends a request under its id as soon as possible, after the first `join()`. */
  post({ resend = true, isBounded = false, ...posting }: Posting): void {
    this.#pending.set(posting.requestId, { ...posting, resend, isBounded, isSent: false });
    // At the limit, a bounded request waits until an earlier one is answered.
    if (!isBounded || this.#unanswered < MAX_UNANSWERED) this.#flush();
  }

  /** A request that was sent keeps its place until it is answered, or the connection ends. */
  #giveUp(requestId: string): void {
    const pending = this.#pending.get(requestId);
    if (pending === undefined) return;
    pending.resend = false;
    if (!pending.isSent) this.#pending.delete(requestId);
  }

  #expire(requestId: string, giveUp: (reason: unknown) => void): void {
    const pending = this.#pending.get(requestId);
    if (pending?.isSent) pending.resend = false;
    else giveUp(new AtriumError(TOO_LATE, requestId));
  }

  onStopped(handler: (fault: Fault) => void): void {
    this.#stopped.push(handler);
  }

  /** Sends a message without a response at once, if there is a connection. */
  notify(type: string, data: object): void {
    this.#channel?.bucket.spend(1, this.#runtime.now());
    this.#channel?.send(toFrame({ type, data }));
  }

  #flush(): void {
    this.#cancelTimer();
    if (this.#channel === null) return;
    const { send, bucket } = this.#channel;
    const now = this.#runtime.now();
    const pauseMs = this.#pausedUntil - now;
    let delayMs = Infinity;
    for (const pending of this.#pending.values()) {
      const { isBounded, isSent, frame } = pending;
      if (isSent || (isBounded && this.#unanswered >= MAX_UNANSWERED)) continue;
      if (isBounded && pauseMs > 0) delayMs = Math.min(delayMs, pauseMs);
      else if (bucket.left(now) < 1) delayMs = Math.min(delayMs, RATE_DELAY_MS);
      else {
        bucket.spend(1, now);
        pending.isSent = true;
        if (isBounded) this.#unanswered += 1;
        send(frame);
      }
    }
    if (delayMs < Infinity) this.#cancelTimer = this.#runtime.after(delayMs, () => this.#flush());
  }

  settle({ requestId, data, fault }: ResponseFrame): void {
    const pending = this.#pending.get(requestId);
    if (pending === undefined) return;
    if (pending.isBounded) this.#unanswered -= 1;
    if (fault?.code === "RATE_LIMITED" && pending.isBounded && pending.resend) this.#sendAgain(pending);
    else {
      this.#pending.delete(requestId);
      if (pending.isBounded) this.#refusals = 0;
      if (fault === null) pending.succeed(data);
      else pending.fail(new AtriumError(fault, requestId));
    }
    if (pending.isBounded) this.#flush();
  }

  /** All that are bounded wait with it, so that they keep their order. */
  #sendAgain(pending: Pending): void {
    const { now, random } = this.#runtime;
    pending.isSent = false;
    // Others that were on their way then are refused for the same reason.
    if (now() >= this.#pausedUntil) {
      this.#refusals += 1;
      this.#pausedUntil = now() + backoffMs(this.#refusals, REFUSED_BACKOFF, 0.5 + random() / 2);
    }
  }

  accept(): void {
    this.#refusal = null;
    this.ending = null;
  }

  /** The room was joined: sends all pending requests in their order. */
  resume(send: (frame: string) => void): void {
    this.#connection = new AbortController();
    this.#channel = { send, bucket: new TokenBucket(SEND_RATE, this.#runtime.now()) };
    this.#flush();
  }

  /** The connection was lost: requests that must not be sent again fail. */
  suspend(): void {
    this.#channel = null;
    this.#connection.abort();
    this.#cancelTimer();
    this.#unanswered = 0;
    this.#refusals = 0;
    this.#pausedUntil = -Infinity;
    for (const pending of [...this.#pending.values()]) {
      pending.isSent = false;
      if (pending.resend) continue;
      this.#pending.delete(pending.requestId);
      pending.fail(new AtriumError(LOST, pending.requestId));
    }
  }

  /** There will be no other connection: all pending requests fail, and new ones are refused. */
  stop(fault: Fault, refusal = NOT_JOINED): void {
    this.suspend();
    this.#refusal = refusal;
    this.ending = new AtriumError(fault);
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const stopped of this.#stopped) stopped(fault);
    for (const { fail, requestId } of pending) fail(new AtriumError(fault, requestId));
  }
}
