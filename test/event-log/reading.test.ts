/** How pages of the log are read from its shards, and which cursors are accepted. */
import { describe, expect, it } from "vitest";
import {
  decodeCursor,
  encodeCursor,
  type LoggedEvent,
  type LogPage,
  type LogQuery,
  type LogSlice,
  PrunedError,
  readPage,
} from "../../src/delivery/event-log/log-page.ts";
import { SHARDS, shardOf } from "../../src/delivery/event-log/shards.ts";
import { randomOf } from "../support/random.ts";

/** Shards in memory, of which each read returns at most `sliceSize` events. */
class Shards {
  readonly shards: LoggedEvent[][];
  readonly #sliceSize: number;
  #clock = 0;
  reads = 0;

  constructor(count: number, sliceSize = 3) {
    this.shards = Array.from({ length: count }, () => []);
    this.#sliceSize = sliceSize;
  }

  append(roomId: string, shard: number, body = "{}"): LoggedEvent {
    const events = this.shards[shard] ?? [];
    this.#clock += 1;
    const at = this.#clock;
    const event: LoggedEvent = {
      seq: events.length + 1,
      eventId: `${shard}-${events.length + 1}`,
      event: "user.created",
      roomId,
      body,
      occurredAt: at,
      loggedAt: at,
    };
    events.push(event);
    return event;
  }

  read = async (index: number, { after, limit }: LogQuery): Promise<LogSlice> => {
    this.reads += 1;
    const events = this.shards[index] ?? [];
    const start = after ?? 0;
    const slice = events.slice(start, start + Math.min(limit, this.#sliceSize));
    const position = start + slice.length;
    return { type: "slice", events: slice, position, isAtEnd: position === events.length };
  };

  page(after: readonly (number | null)[], limit: number): Promise<LogPage> {
    return readPage({ after, limit, from: null, until: null, roomId: null, names: null }, this.read);
  }
}

const idsOf = (events: readonly LoggedEvent[]) => events.map(({ eventId }) => eventId);

describe("a page of the log", () => {
  it("has the events of all shards in the order in which they were logged", async () => {
    const shards = new Shards(3);
    const logged = [0, 1, 1, 2, 0, 1, 2, 2].map((shard) => shards.append(`room ${shard}`, shard));
    const { events, hasMore, positions } = await shards.page([null, null, null], 50);
    expect(idsOf(events)).toEqual(idsOf(logged));
    expect({ hasMore, positions }).toEqual({ hasMore: false, positions: [2, 3, 3] });
  });

  it("is as full as its limit when one shard has everything", async () => {
    const shards = new Shards(SHARDS, 100);
    for (let i = 0; i < 60; i += 1) shards.append("room", 5);
    const { events, hasMore } = await shards.page(new Array(SHARDS).fill(null), 50);
    expect(events).toHaveLength(50);
    expect(hasMore).toBe(true);
    expect(shards.reads).toBe(SHARDS + 1);
  });

  it("ends before it exceeds 4 MiB, and has at least one event", async () => {
    const shards = new Shards(2);
    const large = "x".repeat(3 * 1024 * 1024);
    for (const shard of [0, 1, 0]) shards.append("room", shard, large);
    const first = await shards.page([null, null], 50);
    expect([first.events.length, first.hasMore]).toEqual([1, true]);
    const second = await shards.page(first.positions, 50);
    expect(idsOf(second.events)).toEqual(["1-1"]);
  });

  it("misses nothing and repeats nothing while rooms write between and during its reads", async () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const random = randomOf(seed);
      const shards = new Shards(4, 1 + random(5));
      const write = () => {
        for (let i = random(6); i > 0; i -= 1) {
          const shard = random(4);
          shards.append(`${shard}`, shard);
        }
      };
      const busy = { ...shards, read: shards.read };
      busy.read = async (index, query) => {
        write();
        return shards.read(index, query);
      };
      const seen: LoggedEvent[] = [];
      let positions: readonly (number | null)[] = [null, null, null, null];
      for (let round = 0; round < 12; round += 1) {
        const limit = 1 + random(9);
        const reader = round < 8 ? busy.read : shards.read;
        const query = { after: positions, limit, from: null, until: null, roomId: null, names: null };
        const page = await readPage(query, reader);
        expect(page.events.length, `seed ${seed}`).toBeLessThanOrEqual(limit);
        seen.push(...page.events);
        positions = page.positions;
      }
      for (let more = true; more; ) {
        const page = await shards.page(positions, 100);
        seen.push(...page.events);
        positions = page.positions;
        more = page.hasMore;
      }
      for (const [shard, events] of shards.shards.entries()) {
        const ofShard = seen.filter(({ roomId }) => roomId === `${shard}`);
        expect(idsOf(ofShard), `seed ${seed}`).toEqual(idsOf(events));
      }
    }
  });

  it("ends early, and continues, where a filter matches little", async () => {
    let reads = 0;
    const read = async (_: number, { after }: LogQuery): Promise<LogSlice> => {
      reads += 1;
      return { type: "slice", events: [], position: (after ?? 0) + 5_000, isAtEnd: false };
    };
    const page = await readPage(
      { after: [null], limit: 10, from: null, until: null, roomId: null, names: [] },
      read,
    );
    expect(page).toEqual({ events: [], positions: [reads * 5_000], hasMore: true });
    expect(reads).toBeLessThan(20);
  });

  it("fails when what follows the cursor is no longer kept", async () => {
    const read = async (): Promise<LogSlice> => ({ type: "pruned", oldestAt: 7 });
    const page = readPage(
      { after: [3], limit: 10, from: null, until: null, roomId: null, names: null },
      read,
    );
    await expect(page).rejects.toThrow(PrunedError);
    await expect(page).rejects.toMatchObject({ oldestAt: 7 });
  });
});

describe("a cursor", () => {
  it("gives back its positions", () => {
    const positions = [0, 1, 35, 36, 1_234_567_890, Number.MAX_SAFE_INTEGER - 1, 7, 8];
    const cursor = encodeCursor("account", positions.slice(0, 5));
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(decodeCursor("account", cursor, 5)).toEqual(positions.slice(0, 5));
  });

  it("is of one log, with its number of shards", () => {
    const cursor = encodeCursor("account", [1, 2]);
    expect(decodeCursor("another", cursor, 2)).toBeNull();
    expect(decodeCursor("account", cursor, 8)).toBeNull();
  });

  it.each(["", "!", "MQ", "a".repeat(256), btoa("1.x"), btoa("2.1ks.1.2"), btoa("1..1"), "é"])(
    "is refused when it is none: %s",
    (text) => {
      expect(decodeCursor("account", text, 1)).toBeNull();
    },
  );
});

it("the rooms of an organization are spread over its shards", () => {
  const rooms = Array.from({ length: 800 }, () => shardOf(crypto.randomUUID()));
  const counts = Array.from({ length: SHARDS }, (_, shard) => rooms.filter((of) => of === shard).length);
  expect(Math.min(...counts)).toBeGreaterThan(40);
});
