/** What was asked and is not answered yet: kept in its order, and sent again over each connection until it is. */
import { AtriumError, type Fault } from "../../core/error.ts";
import { toFrame } from "../../core/json.ts";
import { newId, type Runtime } from "../../core/runtime.ts";
import type { Data, ResponseFrame } from "./frames.ts";
import { SendRate } from "./send-rate.ts";

/** How long frames wait that would come too fast. */
const PACE_PAUSE_MS = 50;

const NOT_JOINED: Fault = { code: "NOT_JOINED", module: "Client", message: "Call join() first" };
const CUT: Fault = { code: "DISCONNECTED", module: "Client", message: "The connection has ended" };

export interface PendingRequest<Result> {
  /** Reads a success, before anything that came after it is looked at. What it throws refuses the request. */
  readonly take: (answer: Data) => Result;
  /** Called at once when the request is taken, and not when it is refused before it was sent. */
  readonly begin?: () => void;
  /** Called when it is answered or has failed, before anything else is done about that. */
  readonly end?: () => void;
  /** False for what is of use over the present connection only. */
  readonly resend?: boolean;
}

interface Pending {
  readonly requestId: string;
  readonly frame: string;
  readonly resend: boolean;
  readonly succeed: (answer: Data) => void;
  readonly fail: (fault: Fault) => void;
}

export class Requests {
  readonly #surroundings: Runtime;
  readonly #pending = new Map<string, Pending>();
  /** Of those, the ones that were not sent over the present connection. */
  #unsent: Pending[] = [];
  #connection: { readonly send: (frame: string) => void; readonly pace: SendRate } | null = null;
  #refusal: Fault | null = NOT_JOINED;
  #cancel = () => {};

  constructor(surroundings: Runtime) {
    this.#surroundings = surroundings;
  }

  /** Whether what is sent now arrives in a room. */
  get isConnected(): boolean {
    return this.#connection !== null;
  }

  /** Sends a request as soon as it can be, and gives what `take` made of the answer. AtriumError when refused. */
  ask<Result>(type: string, data: object, asking: PendingRequest<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#refusal !== null) throw new AtriumError(this.#refusal);
      const { take, begin, end, resend = true } = asking;
      const requestId = newId();
      const pending: Pending = {
        requestId,
        frame: toFrame({ type, requestId, data }, "Client"),
        resend,
        succeed: (answer) => {
          end?.();
          try {
            resolve(take(answer));
          } catch (error) {
            reject(error);
          }
        },
        fail: (fault) => {
          end?.();
          reject(new AtriumError(fault, requestId));
        },
      };
      this.#pending.set(requestId, pending);
      this.#unsent.push(pending);
      begin?.();
      this.#flush();
    });
  }

  /** Sends now or never, and waits for no answer. */
  tell(type: string, data: object): void {
    this.#connection?.pace.force(this.#surroundings.now());
    this.#connection?.send(toFrame({ type, data }, "Client"));
  }

  #flush(): void {
    this.#cancel();
    if (this.#connection === null) return;
    const { send, pace } = this.#connection;
    let sent = 0;
    for (const { frame } of this.#unsent) {
      if (!pace.take(this.#surroundings.now())) break;
      send(frame);
      sent += 1;
    }
    this.#unsent.splice(0, sent);
    if (this.#unsent.length > 0) this.#cancel = this.#surroundings.after(PACE_PAUSE_MS, () => this.#flush());
  }

  /** An answer has come. One that nobody waits for any more is passed over. */
  settle({ requestId, data, fault }: ResponseFrame): void {
    const pending = this.#pending.get(requestId);
    if (pending === undefined) return;
    this.#pending.delete(requestId);
    if (fault === null) pending.succeed(data);
    else pending.fail(fault);
  }

  /** From now on requests are taken, and wait for the connection. */
  accept(): void {
    this.#refusal = null;
  }

  /** Joined: all that is unanswered goes out, in the order in which it was asked. */
  resume(send: (frame: string) => void): void {
    this.#connection = { send, pace: new SendRate(this.#surroundings.now()) };
    this.#flush();
  }

  /** The connection is gone: what is not to be sent again has failed. */
  pause(): void {
    this.#connection = null;
    this.#cancel();
    for (const pending of [...this.#pending.values()].filter(({ resend }) => !resend)) {
      this.#pending.delete(pending.requestId);
      pending.fail(CUT);
    }
    this.#unsent = [...this.#pending.values()];
  }

  /** There will be no other connection: everything that waits has failed, and nothing more is taken. */
  refuse(fault: Fault): void {
    this.pause();
    this.#refusal = NOT_JOINED;
    const refused = [...this.#pending.values()];
    this.#pending.clear();
    this.#unsent = [];
    for (const { fail } of refused) fail(fault);
  }
}
