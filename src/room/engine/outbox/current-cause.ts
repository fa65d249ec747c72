/** Which workflow's run the room is carrying out a request of, for the events that follow from it. */
import type { EventCause } from "../../../wire/event-cause.ts";

/** Requests are carried out one by one, each without a pause: at any time there is one cause at most. */
export class CurrentCause {
  #current: EventCause | null = null;

  /** Null while what happens is no workflow's doing. */
  get(): EventCause | null {
    return this.#current;
  }

  during<T>(cause: EventCause | null, work: () => T): T {
    this.#current = cause;
    try {
      return work();
    } finally {
      this.#current = null;
    }
  }
}
