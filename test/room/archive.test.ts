/** R83: rooms that are archived while people work in them, and restored into an object that stores nothing. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { openEventLogs, shardOf } from "../../src/delivery/event-log/shards.ts";
import { toAppError } from "../../src/http/envelope.ts";
import { collectSlices, contentOf, restoreSlices } from "../support/archive.ts";
import { gateway, makeRoom, type TestRoom, type TestUser } from "./support/rooms.ts";

const ALL = { before: Number.MAX_SAFE_INTEGER, limit: 100 };

/** Tables that a restored room does not continue, or counts anew. */
const CHANGED = ["room", "sessions", "grace_periods", "participants", "facts", "events", "epochs"];

/** Adds the changes of `edit` to a document, as an update of the user. */
async function write(room: TestRoom, { user }: TestUser, name: string, edit: (doc: Y.Doc) => void) {
  const doc = new Y.Doc();
  for (const update of (await gateway.readDocument(room.id, room.accountId, name)) ?? [])
    Y.applyUpdate(doc, update);
  const before = Y.encodeStateVector(doc);
  edit(doc);
  const update = Y.encodeStateAsUpdate(doc, before);
  const terms = { author: { type: "user", id: user.id }, onlyIfEmpty: false } as const;
  await gateway.writeDocument(room.id, room.accountId, name, update, terms);
  return { doc, update };
}

async function textOf(room: TestRoom, name: string): Promise<string> {
  const doc = new Y.Doc();
  for (const update of (await gateway.readDocument(room.id, room.accountId, name)) ?? [])
    Y.applyUpdate(doc, update);
  return doc.getText("text").toString();
}

/** A room with everything that one can hold. */
async function fullRoom() {
  const room = await makeRoom();
  const [ada, ben, cleo] = [await room.user(), await room.user({ name: "Ben" }), await room.user()];
  const [atAda, atBen] = [await room.join(ada), await room.join(ben)];
  for (let key = 0; key < 20; key += 1)
    await atAda.call(
      "STORE_SET",
      { store: "board", key: `key ${key}`, value: { text: "Zoë ✨", key } },
      `set ${key}`,
    );
  await atBen.call("STORE_DELETE", { store: "board", key: "key 3" });
  const { data } = await atBen.call("COMMENT_CREATE", { text: "Good?" }, "comment");
  await atAda.call("COMMENT_CREATE", { text: "Good.", threadId: threadOf(data) });
  await atAda.call("USER_FOLLOW", { userId: ben.user.id });
  await write(room, ada, "minutes", (doc) => doc.getText("text").insert(0, "We met. "));
  const version = { type: "create", name: "First", by: { type: "user", id: ada.user.id } } as const;
  await gateway.changeVersion(room.id, room.accountId, "minutes", version);
  await write(room, ben, "minutes", (doc) => doc.getText("text").insert(8, "We parted."));
  await gateway.addParticipant(room.id, room.accountId, cleo.user.id, { state: { busy: true }, ttl: 600 });
  await room.breakSockets(ben);
  await room.advance(30_000);
  return { room, ada, ben, cleo, atAda };
}

const threadOf = ({ comment }: Record<string, unknown>): unknown => Reflect.get(Object(comment), "threadId");

/** Answers of REST, without the users online. */
async function shown(room: TestRoom) {
  const at = [room.id, room.accountId] as const;
  const page = { after: 0, limit: 50, offset: 0 };
  return {
    stores: await gateway.call(...at, "STORE_LIST", {}),
    comments: await gateway.call(...at, "COMMENT_LIST", page),
    text: await textOf(room, "minutes"),
    trail: await gateway.stub(room.id).readTrail(room.accountId, "minutes", ALL),
    versions: await gateway.stub(room.id).listVersions(room.accountId, "minutes", ALL),
  };
}

/** Deletes the room's object as REST does. In another deployment, the restored one would find the same. */
async function empty(room: TestRoom): Promise<void> {
  await room.apply({ type: "room.deleted" });
  await room.crash();
}

const rows = (content: ReadonlyMap<string, readonly string[]>) =>
  [...content].filter(([table]) => !CHANGED.includes(table));

it("a room that was archived in use is restored as it was, with no one in it (R83)", async () => {
  const { room, ada, ben, cleo, atAda } = await fullRoom();
  const object = gateway.archived(room.id);
  const lastAlive = room.now;
  const slicesOf = (rows: number) =>
    room.inside(({ archived }) => {
      archived.reader.limits = { rows, bytes: 1_000_000 };
    });
  await slicesOf(10);
  const slices = await collectSlices(object, async ({ length }) => {
    if (length > 3) return;
    await atAda.call("STORE_SET", { store: "board", key: "key 1", value: `changed ${length}` });
    await atAda.call("STORE_DELETE", { store: "board", key: `key ${length + 10}` });
  });
  expect(slices.length).toBeGreaterThan(3);
  await slicesOf(5_000);
  const before = await shown(room);
  const whole = await collectSlices(object);
  const known = await atAda.call("STORE_SET", { store: "board", key: "late", value: 1 });
  const late = await write(room, ada, "minutes", (doc) => doc.getText("text").insert(0, "Late: "));
  const { epoch } = atAda.joined;
  const seqOfArchive = Number(known.data.seq) - 1;
  const seq = (await room.join(await room.user())).joined.seq;
  expect(known.success).toBe(true);

  await empty(room);
  const waiting = await room.connect();
  for (const slice of slices.slice(0, 2)) await object.restore(slice);
  expect(await waiting.closed).toMatchObject({ code: 1011 });
  await room.crash(); // a restore that dies half-way
  const calls = [() => room.connect(), () => room.stats(), () => shown(room), () => object.archive(null)];
  for (const call of calls) {
    const error: unknown = await call().catch((thrown: unknown) => thrown);
    expect(toAppError(error, "Rooms")).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: 5 });
  }
  await room.alarm();
  await expect(object.finishRestore()).rejects.toMatchObject({ code: "CONFLICT" });
  await restoreSlices(object, slices);

  expect(await shown(room)).toEqual(before);
  expect(await room.online(ada, ben, cleo)).toEqual([]);
  expect(await room.stats()).toMatchObject({ activeParticipants: 0, occupiedSince: null });
  expect(await room.sessions(ada)).toMatchObject([{ leftAt: lastAlive }]);
  expect(whole).toHaveLength(1);
  const again = await collectSlices(object);
  expect(rows(contentOf(again))).toEqual(rows(contentOf(whole)));
  await room.alarm();
  expect(await room.row()).toMatchObject({ activeParticipants: 0, occupiedSince: null });

  const returning = await room.join(ada, undefined, { since: seq, epoch });
  expect(returning.joined).toMatchObject({ reset: true });
  expect(returning.joined.epoch).not.toBe(epoch);
  expect(returning.joined.seq).toBeGreaterThan(seq + 1_000);
  for (const [since, of, reset] of [
    [seqOfArchive, epoch, undefined],
    [seqOfArchive + 1, epoch, true],
    [returning.joined.seq, epoch, true],
    [returning.joined.seq, returning.joined.epoch, undefined],
    // A client that knows no epochs.
    [seq, undefined, true],
    [returning.joined.seq - 1, undefined, true],
    [returning.joined.seq, undefined, undefined],
  ] as const)
    expect([
      since,
      (await room.join(ben, undefined, { since, ...(of && { epoch: of }) })).joined.reset,
    ]).toEqual([since, reset]);
  const value = { text: "Zoë ✨", key: 0 };
  const retried = await returning.call("STORE_SET", { store: "board", key: "key 0", value }, "set 0");
  expect(retried.success).toBe(true);
  expect((await room.join(cleo)).joined.seq).toBe(returning.joined.seq);
  const terms = { author: { type: "user", id: ada.user.id }, onlyIfEmpty: false } as const;
  await gateway.writeDocument(room.id, room.accountId, "minutes", late.update, terms);
  expect(await textOf(room, "minutes")).toBe("Late: We met. We parted.");
  await expect(object.restore(slices[0] ?? never())).resolves.toBeUndefined();
  await expect(object.restore(again[0] ?? never())).rejects.toMatchObject({ code: "CONFLICT" });
});

const never = (): never => {
  throw new Error("There are slices");
};

it("what an archived room had yet to pass on is passed on once, under its own IDs (R83)", async () => {
  const { room } = await fullRoom();
  const object = gateway.archived(room.id);
  const read = async () => {
    const query = { after: null, from: null, until: null, roomId: room.id, names: null, limit: 100 };
    const log = await openEventLogs(env)(room.accountId, shardOf(room.id)).read(query);
    return log.type === "slice" ? log.events : [];
  };
  const [delivered] = await read();
  if (delivered === undefined) throw new Error("The log has events");
  const waiting = [delivered.eventId, "an event that waits"];
  await room.inside((_, { storage }) => {
    const insertion = "INSERT INTO events (id, event, occurred_at, body) VALUES (?, ?, ?, ?)";
    for (const id of waiting) storage.sql.exec(insertion, id, delivered.event, 1, delivered.body);
  });
  const slices = await collectSlices(object);
  expect(slices).toHaveLength(1);
  await room.inside((_, { storage }) => {
    storage.sql.exec("DELETE FROM events"); // or the deletion passes them on
  });
  await empty(room);
  const before = await read();
  await restoreSlices(object, slices);
  await room.apply({ type: "room.updated" });
  const added = (await read()).slice(before.length);
  expect(added[0]?.eventId).toBe("an event that waits");
  const ended = Array.from({ length: 2 }, () => "participant.left");
  expect(added.slice(1).map(({ event }) => event)).toEqual([...ended, "session.closed"]);
});
