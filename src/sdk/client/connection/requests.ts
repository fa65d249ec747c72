/** Requests over the socket: sent in order, and again after a reconnection until they are answered. */
import { type Rate, TokenBucket } from "../../../platform/flow/token-bucket.ts";
import { AtriumError, clientFault, type Fault } from "../../core/error.ts";
import { toFrame } from "../../core/json.ts";
import { newId, type Runtime } from "../../core/runtime.ts";
import type { Data, ResponseFrame } from "./frames.ts";

/** Frames: below the rate at which the service closes connections (R60). */
export const SEND_RATE: Rate = { perSecond: 150, burst: 800 };
const RATE_DELAY_MS = 50;

export const NOT_JOINED = clientFault("NOT_JOINED", "Call join() first");
const LOST = clientFault("DISCONNECTED", "The connection was lost");

interface RequestOptions<Result> {
  /** Reads the data of a success, before any later message is handled. An error that it throws rejects the request. */
  readonly read: (data: Data) => Result;
  /** False for a request of the current connection only, which waits for no write. */
  readonly resend?: boolean;
  /** True for a request that only reads: earlier writes can be sent after it. */
  readonly overtakes?: boolean;
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
  readonly resend: boolean;
}

export class Requests {
  readonly #runtime: Runtime;
  readonly #pending = new Map<string, Pending>();
  #unsent: Pending[] = [];
  #connection = new AbortController();
  #channel: { readonly send: (frame: string) => void; readonly bucket: TokenBucket } | null = null;
  #refusal: Fault | null = NOT_JOINED;
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

  /** Throws NOT_JOINED, or why the connection has failed, unless requests are accepted. */
  check(): void {
    if (this.#refusal !== null) throw new AtriumError(this.#refusal);
  }

  /** Sends a request after the writes that were made before it, and returns the result of `read`. Throws AtriumError. */
  send<Result>(
    type: string,
    data: object,
    { read, resend = true, overtakes = !resend }: RequestOptions<Result>,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.check();
      const succeed = (received: Data) => {
        try {
          resolve(read(received));
        } catch (error) {
          reject(error);
        }
      };
      const request: WaitingRequest = (error) =>
        error ? reject(error) : this.post(type, data, { requestId: newId(), resend, succeed, fail: reject });
      if (overtakes) request();
      else this.#postInOrder(request);
    });
  }

  onSending(handler: (request: WaitingRequest) => void): void {
    this.#postInOrder = handler;
  }

  /** Sends a request under this id as soon as possible, also before `join()`. */
  post(
    type: string,
    data: object,
    { requestId, resend = true, succeed, fail }: Outcome & { requestId: string; resend?: boolean },
  ): void {
    const frame = toFrame({ type, requestId, data });
    const pending = { requestId, frame, resend, succeed, fail };
    this.#pending.set(requestId, pending);
    this.#unsent.push(pending);
    this.#flush();
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
    let sent = 0;
    for (const { frame } of this.#unsent) {
      const now = this.#runtime.now();
      if (bucket.left(now) < 1) break;
      bucket.spend(1, now);
      send(frame);
      sent += 1;
    }
    this.#unsent.splice(0, sent);
    if (this.#unsent.length > 0) this.#cancelTimer = this.#runtime.after(RATE_DELAY_MS, () => this.#flush());
  }

  settle({ requestId, data, fault }: ResponseFrame): void {
    const pending = this.#pending.get(requestId);
    if (pending === undefined) return;
    this.#pending.delete(requestId);
    if (fault === null) pending.succeed(data);
    else pending.fail(new AtriumError(fault, requestId));
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
    for (const pending of [...this.#pending.values()].filter(({ resend }) => !resend)) {
      this.#pending.delete(pending.requestId);
      pending.fail(new AtriumError(LOST, pending.requestId));
    }
    this.#unsent = [...this.#pending.values()];
  }

  /** There will be no other connection: all pending requests fail, and new ones are refused. */
  stop(fault: Fault, refusal = NOT_JOINED): void {
    this.suspend();
    this.#refusal = refusal;
    this.ending = new AtriumError(fault);
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    this.#unsent = [];
    for (const stopped of this.#stopped) stopped(fault);
    for (const { fail, requestId } of pending) fail(new AtriumError(fault, requestId));
  }
}
