/** Reads a page of the log from all of its shards: events in the order of their rooms, and about in that of time. Pure. */
import type { LoggedEvent, LogQuery, LogSlice } from "./log-query.ts";

/** A page ends before it exceeds this. */
const MAX_PAGE_CHARS = 4 * 1024 * 1024;
/** Reads of one shard per page: a filter that matches little ends the page early, and the next one continues. */
const MAX_READS = 8;

/** Where in the log to read, and what. */
export interface PageQuery extends Omit<LogQuery, "after"> {
  /** For each shard the position to continue behind; null to start at `from`. */
  readonly after: readonly (number | null)[];
}

export interface LogPage {
  readonly events: LoggedEvent[];
  /** For each shard, where to continue. */
  readonly positions: number[];
  /** True when more may follow at once. */
  readonly hasMore: boolean;
}

/** Events behind the cursor are no longer kept. */
export class PrunedError extends Error {
  /** When the oldest that is kept was logged (epoch ms); null when nothing is. */
  readonly oldestAt: number | null;

  constructor(oldestAt: number | null) {
    super("Events behind the cursor are no longer kept");
    this.name = "PrunedError";
    this.oldestAt = oldestAt;
  }
}

/** Reads from the shard with this index of {@link PageQuery.after}. */
type ReadShard = (index: number, query: LogQuery) => Promise<LogSlice>;

/** One shard, read in slices as the page takes its events. */
class ShardStream {
  readonly #read: (after: number | null, limit: number) => Promise<LogSlice>;
  #slice: LoggedEvent[] = [];
  #taken = 0;
  #reads = 0;
  /** Where the next slice begins. */
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
  // Of many shards each gives a part of the page: twice its share, so that few have to be asked again.
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

/** The shard whose next event was logged first; undefined when no shard has one. */
const earliest = (streams: readonly ShardStream[]): ShardStream | undefined =>
  streams.reduce<ShardStream | undefined>((first, stream) => {
    if (stream.head === undefined) return first;
    return first?.head === undefined || stream.head.loggedAt < first.head.loggedAt ? stream : first;
  }, undefined);
