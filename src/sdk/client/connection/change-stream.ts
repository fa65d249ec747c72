/** What the room tells, handed to whom it concerns: each lasting change once and in its order, whatever was lost. */
import type { Data, EventFrame, Joined } from "./frames.ts";

/** Brings one part of the client up to date with the answer to a join; what it promises is waited for. */
type Entrance = (joined: Joined) => Promise<unknown> | undefined;

export class ChangeStream {
  readonly #handlers = new Map<string, (data: Data) => void>();
  readonly #entrances: Entrance[] = [];
  #seq: number | undefined;

  /** The latest change that was seen; undefined before the first join. */
  get seq(): number | undefined {
    return this.#seq;
  }

  /** Hands events of one name to `handler`. It must not throw. */
  hear(event: string, handler: (data: Data) => void): void {
    this.#handlers.set(event, handler);
  }

  /** Calls `entrance` on each join, once the changes that were missed have been handed out. */
  onJoined(entrance: Entrance): void {
    this.#entrances.push(entrance);
  }

  /** Something was told. An event that nobody knows is passed over. */
  receive({ event, data, seq }: EventFrame): void {
    if (seq !== null) {
      if (this.#seq !== undefined && seq <= this.#seq) return;
      this.#seq = seq;
    }
    this.#handlers.get(event)?.(data);
  }

  /** The room was joined, for the first time or again. Settles when every part is up to date. */
  enter(joined: Joined): Promise<unknown> {
    for (const change of joined.changes ?? []) this.receive(change);
    this.#seq = joined.seq;
    return Promise.all(this.#entrances.map((enter) => enter(joined)));
  }
}
