/** What the handler of a workflow keeps in its object between deliveries. */
import type { HandlerState } from "../../delivery/port/handler.ts";
import type { KillStreak } from "./run-streak.ts";
import type { DisabledReason } from "./table.ts";

interface State {
  /** Since when no run could be started (epoch ms); null while runs start. */
  readonly stuckSince: number | null;
  /** Null while the latest run was not killed. */
  readonly streak: KillStreak | null;
  /** That the service has disabled the workflow; null once its webhooks know. */
  readonly notice: Notice | null;
}

interface Notice {
  readonly eventId: string;
  readonly reason: DisabledReason;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The state as the object stores it. */
export class StoredState {
  readonly #stored: HandlerState;

  constructor(stored: HandlerState) {
    this.#stored = stored;
  }

  /** Not stuck before the first write. */
  read(): State {
    return { stuckSince: null, streak: null, notice: null, ...parse(this.#stored.read()) };
  }

  /** Most runs change nothing. */
  change(changes: Partial<State>): void {
    const present = this.read();
    const json = JSON.stringify({ ...present, ...changes });
    if (json !== JSON.stringify(present)) this.#stored.write(json);
  }
}

/** As {@link StoredState} wrote it. */
const parse = (json: string): Partial<State> => JSON.parse(json) as Partial<State>;
