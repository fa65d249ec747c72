/** What the handler of a workflow keeps in its object between deliveries. */
import type { KillStreak } from "./run-streak.ts";
import type { DisabledReason } from "./table.ts";

/** What the workflow's object keeps for its handler. */
export interface State {
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

/** As the handler wrote it; not stuck before the first write. */
export const parseState = (json: string): State => ({
  stuckSince: null,
  streak: null,
  notice: null,
  ...(JSON.parse(json) as Partial<State>),
});
