/** R77: downloads of large stores, whose parts a joined client reads over HTTP. */

import { LIMITS } from "@atrium/contract/limits.ts";
import { rightsOfRole } from "@atrium/contract/resources/permissions.ts";
import { describe, expect, it } from "vitest";
import { Downloads } from "../../../../src/room/engine/downloads.ts";
import type { RoomStorage } from "../../../../src/room/storage/storage.ts";
import { RoomConnections } from "../../../../src/room/transport/connections.ts";
import { joinedSocket } from "../../support/joined-socket.ts";
import { openStores, roomPorts } from "../../support/room-ports.ts";
import { gateway, roomOfTwo, type TestRoom } from "../../support/rooms.ts";
import type { TestSocket } from "../../support/test-socket.ts";
import { withStorage } from "../../support/with-storage.ts";

const KIB_100 = "x".repeat(100 * 1024);
const WANTED = { store: "s", download: true };

const ADA = joinedSocket({ rights: rightsOfRole("viewer") });

interface Part {
  readonly entries: readonly unknown[];
  readonly seq: number;
  readonly next: string | null;
}

async function read(room: TestRoom, id: unknown): Promise<Part | null> {
  const body = await gateway.download(room.id, String(id));
  return body && ((await new Response(body).json()) as Part);
}

async function fill(socket: TestSocket, keys: readonly string[]): Promise<void> {
  for (const key of keys) await socket.call("STORE_SET", { store: "s", key, value: { key, KIB_100 } });
}

/** A store of 9 MB, and a user who can afford to download it, or not. */
function openLarge(storage: RoomStorage) {
  const content = openStores({ storage });
  const { stores } = content;
  const connections = new RoomConnections();
  connections.put(ADA);
  const user = { canAfford: true };
  const ports = roomPorts({ storage, newId: () => "id" });
  const queue = { canAfford: () => user.canAfford, countDelivery: () => {} };
  const downloads = new Downloads({ ports, content, connections, queue });
  const keys = Array.from({ length: 90 }, (_, index) => `${100 + index}`);
  for (const key of keys) stores.apply({ type: "STORE_SET", store: "s", key, value: KIB_100 }, null);
  return { downloads, stores, keys, user };
}

function readResponse(downloads: Downloads, between = () => {}): string {
  let text = "";
  expect(downloads.begin("id")).toBe(true);
  for (let isLast = false; !isLast; between()) {
    const piece = downloads.read("id");
    for (const part of piece?.texts ?? []) text += new TextDecoder().decode(part);
    isLast = piece?.isLast ?? true;
  }
  return text;
}

describe("a download", () => {
  it("has all entries of a store, and is read once (R77)", async () => {
    const { room, atAda, atBen } = await roomOfTwo();
    const keys = ["a", 'quote"', "line\n", "__proto__", "é", "\ue000", "🎉"];
    await fill(atAda, keys);
    const { data } = await atBen.call("STORE_SYNC", WANTED);
    expect(data).toEqual({ entries: {}, seq: keys.length, download: expect.any(String) });
    const part = await read(room, data.download);
    const sorted = ["__proto__", "a", "line\n", 'quote"', "é", "\ue000", "🎉"];
    expect(part).toEqual({
      entries: sorted.flatMap((key) => [key, { key, KIB_100 }, keys.indexOf(key) + 1]),
      seq: keys.length,
      next: null,
    });
    expect(await read(room, data.download)).toBeNull();
  });

  it("has large entries among many small ones, which SQLite could not join into one text (R77)", async () => {
    const { room, atAda } = await roomOfTwo();
    await room.inside((_, { storage }) => {
      const numbers = (count: number) =>
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT 's',`;
      storage.sql.exec(`
        INSERT INTO entries ${numbers(5_000)} 'small ' || i, i, 1 FROM n;
        INSERT INTO entries ${numbers(70)} 'large ' || i, '"' || hex(zeroblob(98000)) || '"', 1 FROM n;
        INSERT OR REPLACE INTO stores SELECT 's', count(*), sum(length(key) + length(value)) FROM entries;`);
    });
    const { download } = (await atAda.call("STORE_SYNC", WANTED)).data;
    const keys: unknown[] = [];
    for (let next: string | null = ""; next !== null; ) {
      const part = await read(room, download);
      keys.push(...(part?.entries ?? []).filter((_, index) => index % 3 === 0));
      next = part?.next ?? null;
    }
    expect([keys.length, new Set(keys).size, keys[0], keys.at(-1)]).toEqual([
      5_070,
      5_070,
      "large 1",
      "small 999",
    ]);
  });

  it("comes in parts, each as of its last piece, which follow each other (R77, R78)", () =>
    withStorage(({ storage }) => {
      const { downloads, stores, keys, user } = openLarge(storage);
      const readPart = () => JSON.parse(readResponse(downloads)) as Part;
      expect([downloads.open("s", ADA), downloads.begin("other")]).toEqual(["id", false]);
      const first = readPart();
      expect([first.seq, first.next]).toEqual([90, first.entries.at(-3)]);
      user.canAfford = false;
      expect(downloads.begin("id")).toBe(false);
      user.canAfford = true;
      stores.apply({ type: "STORE_DELETE", store: "s", key: "189" }, null);
      const second = readPart();
      expect([second.seq, second.next]).toEqual([91, null]);
      const read = [...first.entries, ...second.entries].filter((_, index) => index % 3 === 0);
      expect([read, downloads.begin("id")]).toEqual([keys.slice(0, -1), false]);
    }));

  it("comes in one response if its client wants lines, each a part, which is an array as a whole (R77, R78)", () =>
    withStorage(({ storage }) => {
      const { downloads, stores, keys } = openLarge(storage);
      downloads.open("s", ADA, true);
      let pieces = 0;
      const text = readResponse(downloads, () => {
        pieces += 1;
        if (pieces === 1) stores.apply({ type: "STORE_DELETE", store: "s", key: "189" }, null);
      });
      const parts = JSON.parse(text) as Part[];
      expect(parts.flatMap(({ entries }) => entries.filter((_, index) => index % 3 === 0))).toEqual(
        keys.slice(0, -1),
      );
      expect(parts.map(({ seq }) => seq)).toEqual(parts.map(() => 91));
      expect(parts.map(({ next }) => next)).toEqual([
        ...parts.slice(0, -1).map(({ entries }) => entries.at(-3)),
        null,
      ]);
      const lines = text.split("\n");
      expect(lines.slice(0, -1).map((line) => JSON.parse(line.slice(1)))).toEqual(parts);
      expect(lines.slice(0, -2).map(({ length }) => length > LIMITS.minLineBytes)).toEqual([
        true,
        true,
        true,
      ]);
      expect(downloads.begin("id")).toBe(false);
    }));

  it("in lines ends with a whole part when its user may spend no more (R69, R77)", () =>
    withStorage(({ storage }) => {
      const { downloads, user } = openLarge(storage);
      downloads.open("s", ADA, true);
      const text = readResponse(downloads, () => {
        user.canAfford = false;
      });
      const [first, second, ...others] = JSON.parse(text) as Part[];
      expect([first?.next, second, others]).toEqual([first?.entries.at(-3), undefined, []]);
      user.canAfford = true;
      expect(downloads.begin("id")).toBe(false);
    }));

  it("in lines says how long they are at least (R77)", async () => {
    const { atAda } = await roomOfTwo();
    await fill(atAda, ["a", "b", "c", "d", "e", "f"]);
    const { data } = await atAda.call("STORE_SYNC", { ...WANTED, lines: true });
    expect(data).toMatchObject({ download: expect.any(String), lineBytes: LIMITS.minLineBytes });
  });

  it("is not offered for a small store, and to a client that does not ask (R37, R77)", async () => {
    const { atAda } = await roomOfTwo();
    await fill(atAda, ["a"]);
    expect((await atAda.call("STORE_SYNC", WANTED)).data).toMatchObject({ entries: { a: { version: 1 } } });
    await fill(atAda, ["b", "c", "d", "e", "f"]);
    const { data } = await atAda.call("STORE_SYNC", { store: "s" });
    expect([Object.keys(data.entries as object).length, data.download]).toEqual([6, undefined]);
  });

  it("ends with its socket, and when it is not read for 30 s (R77)", async () => {
    const { room, atAda, atBen } = await roomOfTwo();
    await fill(atAda, ["a", "b", "c", "d", "e", "f"]);
    const ofBen = (await atBen.call("STORE_SYNC", WANTED)).data.download;
    const ofAda = (await atAda.call("STORE_SYNC", WANTED)).data.download;
    await atBen.call("LEAVE_ROOM");
    expect(await read(room, ofBen)).toBeNull();
    room.now += 30_001;
    expect(await read(room, ofAda)).toBeNull();
    expect(await read(room, crypto.randomUUID())).toBeNull();
  });

  it("that is given up while it is read ends in the middle, and fails nothing (R77)", async () => {
    const { room, atAda, atBen } = await roomOfTwo();
    const keys = Array.from({ length: 30 }, (_, index) => `${index}`);
    await fill(atAda, keys);
    const { download } = (await atBen.call("STORE_SYNC", WANTED)).data;
    const reader = (await gateway.download(room.id, String(download)))?.getReader();
    const first = await reader?.read();
    await atBen.call("LEAVE_ROOM");
    let text = new TextDecoder().decode(first?.value);
    for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read())
      text += new TextDecoder().decode(chunk.value);
    expect([text.startsWith('{"entries":["0",'), text.endsWith("}")]).toEqual([true, false]);
  });

  it("is one of four of a user; a further store comes over the socket (R77)", async () => {
    const { atAda } = await roomOfTwo();
    await fill(atAda, ["a", "b", "c", "d", "e", "f"]);
    const offers: unknown[] = [];
    for (let count = 0; count < 5; count += 1)
      offers.push((await atAda.call("STORE_SYNC", WANTED)).data.download);
    expect(offers.map((offer) => typeof offer)).toEqual([...Array(4).fill("string"), "undefined"]);
  });
});
