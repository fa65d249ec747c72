/** How the response to a retried request is kept and restored (docs/decisions/0010). */
import type { RequestContext } from "../../platform/context/context.ts";

export interface Replay<C extends RequestContext = RequestContext> {
  /** `data` without its secrets, as the receipt keeps it; null when it must not be shown again. */
  keep(data: object): object | null;
  /** `data` as it was, with what {@link Replay.keep} left out derived again. */
  restore(ctx: C, kept: object): Promise<object>;
}

/** Keeps the whole response. */
export const KEEP_ALL: Replay = { keep: (data) => data, restore: async (_, kept) => kept };

/** For responses with a one-time secret. It is never shown again, so a retry returns CONFLICT. */
export const SHOWN_ONCE: Replay = { keep: () => null, restore: async (_, kept) => kept };
