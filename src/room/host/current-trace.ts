/** Which request the room acts for, for the events that follow from it. */
import { storeTrace, type Trace } from "../../platform/trace.ts";

/** A room acts in turns without a pause: at any time for one request at most. */
export class CurrentTrace {
  #trace: Trace | null = null;
  #frameId: string | undefined;

  /** What `work` does follows from this request; null for none. */
  during<T>(trace: Trace | null, work: () => T): T {
    const [outer, frameId] = [this.#trace, this.#frameId];
    this.#trace = trace;
    this.#frameId = undefined;
    try {
      return work();
    } finally {
      this.#trace = outer;
      this.#frameId = frameId;
    }
  }

  /** The turn goes on with a message of the socket that this request has opened, with its `requestId`. */
  continue(trace: Trace | null, frameId: string | undefined): void {
    this.#trace = trace;
    this.#frameId = frameId;
  }

  /** As an event keeps it: JSON, or null for none. */
  get stored(): string | null {
    return storeTrace(this.#trace && { ...this.#trace, frameId: this.#frameId });
  }
}
