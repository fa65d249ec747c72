/** Hands events of the room to their handlers: each lasting change once and in order, across reconnections. */
import type { Data, EventFrame, Joined } from "./frames.ts";

/** Brings one part of the client up to date. The join completes when a returned promise settles. */
type JoinHandler = (joined: Joined) => unknown;

export class ChangeStream {
  readonly #handlers = new Map<string, (data: Data) => void>();
  readonly #joinHandlers: JoinHandler[] = [];
  #seq: number | undefined;
  epoch: unknown;

  get seq(): number | undefined {
    return this.#seq;
  }

  /** Continues from a change that the device kept, unless changes were received. */
  continueFrom(seq: number, epoch: unknown): void {
    this.#seq ??= seq;
    this.epoch ??= epoch;
  }

  handle(event: string, handler: (data: Data) => void): void {
    this.#handlers.set(event, handler);
  }

  /** Adds a handler that runs on each join, after the changes that were missed. */
  onJoined(handler: JoinHandler): void {
    this.#joinHandlers.push(handler);
  }

  /** Hands over an event, unless it was received before. False if a change before it is missing: the next join loads everything. */
  receive(frame: EventFrame): boolean {
    const { seq } = frame;
    if (seq !== null && this.#seq !== undefined) {
      if (seq <= this.#seq) return true;
      if (seq > this.#seq + 1) {
        this.#seq = undefined;
        return false;
      }
    }
    this.#dispatch(frame);
    return true;
  }

  #dispatch({ event, data, seq }: EventFrame): void {
    this.#seq = seq ?? this.#seq;
    this.#handlers.get(event)?.(data);
  }

  /** Takes in the response to a join. Settles when every part of the client is up to date. */
  join(joined: Joined): Promise<unknown> {
    // Sequence numbers of superseded writes are left out here.
    for (const change of joined.changes ?? []) this.#dispatch(change);
    this.#seq = joined.seq;
    this.epoch = joined.epoch;
    return Promise.all(this.#joinHandlers.map((handler) => handler(joined)));
  }
}
