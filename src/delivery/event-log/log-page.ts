/** Pages of an event log: reads of its shards, merged in order, and the cursors behind them. Pure. */

import { fnv1a } from "@atrium/contract/fnv1a.ts";
import type { WebhookEventName } from "@atrium/contract/resources/events.ts";
import type { OutgoingEvent } from "../outbox/subscription.ts";

/** An event in a shard of the log. Times are epoch milliseconds. */
export type LoggedEvent = OutgoingEvent & {
  /** Number within the shard; it orders the events of a room. */
  readonly seq: number;
  /** When the log received it; never less than that of the event before it. */
  readonly loggedAt: number;
};

export type LogQuery = {
  /** Number behind which to read; null to start at `from`. */
  readonly after: number | null;
  /** Earliest time of logging (epoch ms) in a read without `after`; null for all that is kept. */
  readonly from: number | null;
  /** Latest time of logging (epoch ms); null for all. */
  readonly until: number | null;
  readonly roomId: string | null;
  readonly names: readonly WebhookEventName[] | null;
  /**
   * The agent whose mentions are read; absent for all events. `names` has the event of mentions alone, and a position behind
   * deleted events goes on with the oldest that are kept.
   */
  readonly mentioned?: string;
  readonly limit: number;
};

/** The result of a read. Rows and bytes are bounded, so it may have fewer events than match. */
export type LogSlice =
  | {
      readonly type: "slice";
      readonly events: LoggedEvent[];
      /** Everything up to this number was looked at: no later event ever takes a lower one. */
      readonly position: number;
      readonly isAtEnd: boolean;
    }
  /** Events that follow `after` are no longer kept; the oldest that are were logged at `oldestAt`. */
  | { readonly type: "pruned"; readonly oldestAt: number | null };

const MAX_PAGE_CHARS = 4 * 1024 * 1024;

interface PageQuery extends Omit<LogQuery, "after"> {
  readonly after: readonly (number | null)[];
}

interface LogPage {
  readonly events: LoggedEvent[];
  readonly positions: number[];
  readonly hasMore: boolean;
}

/** The log no longer has the events behind a cursor. */
export class PrunedError extends Error {
  readonly oldestAt: number | null;

  constructor(oldestAt: number | null) {
    super("Events behind the cursor are no longer kept");
    this.name = "PrunedError";
    this.oldestAt = oldestAt;
  }
}

type ReadShard = (index: number, query: LogQuery) => Promise<LogSlice>;

/**
 * The next page, from one read of each shard: a filter that matches little ends it early, and the next one continues.
 * Throws a {@link PrunedError} when events that it would have are no longer kept.
 */
export async function readPage({ after, ...query }: PageQuery, read: ReadShard): Promise<LogPage> {
  const slices = await Promise.all(
    after.map(async (position, shard) => {
      const slice = await read(shard, { ...query, after: position });
      if (slice.type === "pruned") throw new PrunedError(slice.oldestAt);
      return slice;
    }),
  );
  // The sort is stable: the events of a shard stay in their order.
  const found = slices
    .flatMap(({ events }, shard) => events.map((event) => ({ shard, event })))
    .sort((one, other) => one.event.loggedAt - other.event.loggedAt);
  const count = countFitting(found.map(({ event }) => event));
  const shown = found.slice(0, Math.min(count, query.limit));
  const left = found.slice(shown.length);
  const positionOf = (shard: number, readUpTo: number): number => {
    const next = left.find((each) => each.shard === shard);
    return next === undefined ? readUpTo : next.event.seq - 1;
  };
  return {
    events: shown.map(({ event }) => event),
    positions: slices.map(({ position }, shard) => positionOf(shard, position)),
    hasMore: left.length > 0 || slices.some(({ isAtEnd }) => !isAtEnd),
  };
}

/** The number of first events that fit into a page; at least one, if there are any. */
function countFitting(events: readonly LoggedEvent[]): number {
  let chars = 0;
  const end = events.findIndex(({ body }) => {
    chars += body.length;
    return chars > MAX_PAGE_CHARS;
  });
  return end < 0 ? events.length : Math.max(1, end);
}

/** Grows when the shards of a log change, so that no cursor is read as one of another layout. */
const VERSION = "1";
const FORM = /^1\.([0-9a-z]{1,7})((?:\.[0-9a-z]{1,10})+)$/;
const BASE = 36;

const tagOf = (scope: string): string => fnv1a(scope).toString(BASE);

/** The cursor behind these positions, one for each shard that is read. */
export const encodeCursor = (scope: string, positions: readonly number[]): string =>
  btoa([VERSION, tagOf(scope), ...positions.map((position) => position.toString(BASE))].join("."))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");

/** The positions of a cursor; null when it is none of this scope with this number of shards. */
export function decodeCursor(scope: string, cursor: string, shards: number): readonly number[] | null {
  const [, tag, positions = ""] = FORM.exec(fromBase64(cursor) ?? "") ?? [];
  if (tag !== tagOf(scope)) return null;
  const numbers = positions
    .slice(1)
    .split(".")
    .map((position) => Number.parseInt(position, BASE));
  return numbers.length === shards && numbers.every(Number.isSafeInteger) ? numbers : null;
}

function fromBase64(text: string): string | null {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return null;
  }
}
