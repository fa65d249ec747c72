/** The quota of the bytes in all stores of an organization's rooms together (R74). */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { StoreQuota } from "../../../../src/room/engine/content/stores.ts";
import { whileTableFails } from "../../../support/database-failure.ts";
import { expectLogged } from "../../../support/log-guard.ts";
import { quotaOf } from "../../support/quotas.ts";
import { makeRoom, TestRoom } from "../../support/rooms.ts";

const MIB = 1024 * 1024;
const KIB_100 = "x".repeat(100 * 1024);

const { setLimit, used } = quotaOf("store_bytes");

/** Another room of the same organization. */
async function neighbourOf({ accountId }: TestRoom): Promise<TestRoom> {
  const room = new TestRoom(accountId, crypto.randomUUID());
  await env.DB.prepare(
    "INSERT INTO rooms (account_id, id, name, name_folded, state, created_at) VALUES (?, ?, 'B', 'B', 'active', 1)",
  )
    .bind(accountId, room.id)
    .run();
  return room;
}

/** Writes entries of 100 KiB over the socket of a new user; stops at the first error and returns it. */
async function write(room: TestRoom, from: number, to: number) {
  const socket = await room.join(await room.user());
  for (let index = from; index < to; index += 1) {
    const { error } = await socket.call("STORE_SET", { store: "s", key: `key-${index}`, value: KIB_100 });
    if (error !== null) return error;
  }
  return null;
}

const refused = (use: number, limit: number) => ({
  ...{ module: "Accounts", code: "FORBIDDEN" },
  message: expect.stringMatching(`^The quota store_bytes is exceeded: ${use} of ${limit} are used; delete `),
});

describe("the quota of the bytes of stores (R74)", () => {
  it("counts a room when it has another MiB, or less, and no more when it is gone", async () => {
    const room = await makeRoom();
    expect(await write(room, 0, 11)).toBeNull();
    await room.alarm();
    const eleven = 11 * (KIB_100.length + 2) + "key-0".length * 10 + "key-10".length;
    expect(await used(room)).toBe(eleven);
    const socket = await room.join(await room.user());
    await room.advance(1_000);
    await socket.call("STORE_DELETE", { store: "s", key: "key-10" });
    await room.advance(1_000);
    expect(await used(room)).toBe(10 * (KIB_100.length + 2 + "key-0".length));
    await room.deleteRow();
    expect(await used(room)).toBe(0);
  });

  it("refuses what makes stores larger when it is used up, also by other rooms, until the limit is raised", async () => {
    const room = await makeRoom();
    const neighbour = await neighbourOf(room);
    expect(await write(neighbour, 0, 11)).toBeNull();
    await neighbour.alarm();
    const elsewhere = (await used(room)) ?? 0;
    await setLimit(room, elsewhere + 150 * 1024);
    const socket = await room.join(await room.user());
    await room.alarm();
    expect(await write(room, 0, 3)).toEqual(refused(elsewhere + 100 * 1024 + 7, elsewhere + 150 * 1024));
    expect(await socket.call("STORE_DELETE", { store: "s", key: "key-0" })).toMatchObject({ success: true });
    expect(await write(room, 0, 1)).toBeNull();
    expect(await write(room, 1, 2)).not.toBeNull();
    await setLimit(room, elsewhere + MIB);
    await room.advance(1_000);
    expect(await write(room, 1, 2)).toBeNull();
  });

  it("counts a room again that the database could not be written for", async () => {
    const room = await makeRoom();
    await write(room, 0, 1);
    await room.alarm();
    await write(room, 1, 11);
    await whileTableFails("rooms", () => room.advance(1_000));
    expectLogged("A task of a room's alarm failed");
    await room.advance(2_000);
    expect(await used(room)).toBeGreaterThan(MIB);
  });

  it("counts a room that is written over REST and has never been joined", async () => {
    const room = await makeRoom();
    for (let index = 0; index < 11; index += 1) {
      await room.inside((object) =>
        object.call(
          room.accountId,
          JSON.stringify({ type: "STORE_SET", data: { store: "s", key: `key-${index}`, value: KIB_100 } }),
        ),
      );
    }
    await room.alarm();
    expect(await used(room)).toBeGreaterThan(MIB);
  });
});

it("the documents of a room (R74) count like its stores, are refused beyond the quota, and make space when they are deleted", async () => {
  const room = await makeRoom();
  const doc = new Y.Doc();
  // Too small to be folded: the room does that by itself, and has the document twice from then on.
  doc.getText("text").insert(0, "x".repeat(0.75 * MIB));
  const options = { author: { type: "organization" }, onlyIfEmpty: false } as const;
  const write = (name: string) =>
    room.inside((object) => object.writeDocument(room.accountId, name, Y.encodeStateAsUpdate(doc), options));
  expect([await write("one"), await write("two")]).toEqual([true, true]);
  await room.alarm();
  const bytes = Y.encodeStateAsUpdate(doc).length;
  expect(await used(room)).toBe(2 * bytes);
  await setLimit(room, 3 * bytes - 1);
  await room.join(await room.user());
  await room.advance(1_000);
  const message = `The quota store_bytes is exceeded: ${2 * bytes} of ${3 * bytes - 1} are used; delete `;
  expect(await write("three")).toEqual({ code: "FORBIDDEN", message: expect.stringContaining(message) });
  for (const name of ["one", "two"])
    await room.inside((object) => object.deleteDocument(room.accountId, name));
  await room.advance(1_000);
  expect(await used(room)).toBe(0);
  expect(await write("three")).toBe(true);
});

it("what a room knows of it is due at each whole MiB that is passed, in either direction, and after a refusal", () => {
  let planned = 0;
  const ports = {
    storage: { occupancy: { limits: {} } },
    planAlarm() {
      planned += 1;
    },
  };
  const quota = new StoreQuota(ports, (part) => (part === "stores" ? MIB : 0));
  quota.changed(0, MIB - 1);
  expect(quota.isDue).toBe(false);
  quota.changed(MIB - 1, MIB);
  quota.changed(MIB - 1, MIB);
  expect([quota.isDue, planned]).toEqual([true, 1]);
  quota.copying();
  quota.copied({ quota: "store_bytes", used: 5 * MIB, limit: 5 * MIB }, MIB);
  quota.changed(MIB, MIB - 1);
  expect(quota.isDue).toBe(true);
  quota.copying();
  expect(quota.isDue).toBe(false);
  expect(() => quota.require("stores", MIB - 1, MIB)).not.toThrow();
  expect(() => quota.require("stores", MIB, MIB + 1)).toThrow("store_bytes");
  expect(quota.isDue).toBe(true);
});
