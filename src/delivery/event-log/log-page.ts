/** Pages of an event log: reads of its shards, merged in order, and the cursors behind them. Pure. */
import { fnv1a } from "../../platform/crypto/encoding.ts";
import type { WebhookEventName } from "../../wire/events.ts";
import type { OutgoingEvent } from "../outbox/subscription.ts";

/** An event in a shard of the log. Times are epoch milliseconds. */
export type LoggedEvent = OutgoingEvent & {
  /** Counts the shard's events without a gap, so that it orders those of a room. */
  readonly seq: number;
  /** When the log received it; never less than that of the event before it. */
  readonly loggedAt: number;
};

export type LogQuery = {
  /** Only what follows this number; null to start at `from`. */
  readonly after: number | null;
  /** Without `after`: only what was logged at or after this time (epoch ms); null for all that is kept. */
  readonly from: number | null;
  /** Only what was logged up to this time (epoch ms); null for all. */
  readonly until: number | null;
  readonly roomId: string | null;
  readonly names: readonly WebhookEventName[] | null;
  readonly limit: number;
};

/** The result of a read. It is bounded in rows and bytes, and may have fewer events than there are. */
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
/** Reads of one shard per page: a filter that matches little ends the page early, and the next one continues. */
const MAX_READS = 8;

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

class ShardStream {
  readonly #read: (after: number | null, limit: number) => Promise<LogSlice>;
  #slice: LoggedEvent[] = [];
  #taken = 0;
  #reads = 0;
  #readUpTo: number | null;
  /** Behind the latest event that was taken, or behind the slice when all of it was. */
  #position: number | null;
  isAtEnd = false;

  constructor(after: number | null, read: (after: number | null, limit: number) => Promise<LogSlice>) {
    this.#read = read;
    this.#readUpTo = after;
    this.#position = after;
  }

  get head(): LoggedEvent | undefined {
    return this.#slice[this.#taken];
  }

  get position(): number {
    return this.#position ?? 0;
  }

  /** Reads until there is a next event, or none follows, or enough was read for one page. */
  async fill(limit: number): Promise<void> {
    while (this.head === undefined && !this.isAtEnd && this.#reads < MAX_READS) {
      const slice = await this.#read(this.#readUpTo, limit);
      if (slice.type === "pruned") throw new PrunedError(slice.oldestAt);
      this.#reads += 1;
      this.#slice = slice.events;
      this.#taken = 0;
      this.#readUpTo = slice.position;
      this.isAtEnd = slice.isAtEnd;
      const [first] = slice.events;
      this.#position = first === undefined ? slice.position : first.seq - 1;
    }
  }

  take(): void {
    this.#position = this.#slice[this.#taken]?.seq ?? this.#position;
    this.#taken += 1;
    if (this.head === undefined) this.#position = this.#readUpTo;
  }
}

/** The next page. Throws a {@link PrunedError} when events that it would have are no longer kept. */
export async function readPage(query: PageQuery, read: ReadShard): Promise<LogPage> {
  const { after, limit, ...filter } = query;
  const streams = after.map(
    (position, index) =>
      new ShardStream(position, (from, count) => read(index, { ...filter, after: from, limit: count })),
  );
  // Each of many shards gives twice its share of the page, so that few are asked again.
  const share = Math.min(limit, Math.ceil((2 * limit) / streams.length));
  await Promise.all(streams.map((stream) => stream.fill(share)));
  const events: LoggedEvent[] = [];
  let chars = 0;
  for (let stream = earliest(streams); stream?.head !== undefined; stream = earliest(streams)) {
    const { head } = stream;
    chars += head.body.length;
    if (events.length > 0 && chars > MAX_PAGE_CHARS) break;
    events.push(head);
    stream.take();
    if (events.length === limit) break;
    await stream.fill(limit - events.length);
  }
  return {
    events,
    positions: streams.map(({ position }) => position),
    hasMore: streams.some(({ head, isAtEnd }) => head !== undefined || !isAtEnd),
  };
}

const earliest = (streams: readonly ShardStream[]): ShardStream | undefined =>
  streams.reduce<ShardStream | undefined>((first, stream) => {
    if (stream.head === undefined) return first;
    return first?.head === undefined || stream.head.loggedAt < first.head.loggedAt ? stream : first;
  }, undefined);

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
