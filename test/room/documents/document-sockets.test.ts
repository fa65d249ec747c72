/** Documents over the sockets of editors' own clients, frame by frame. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { describe, expect, it } from "vitest";
import { writeSyncStep1, writeSyncStep2, writeUpdate } from "y-protocols/sync";
import * as Y from "yjs";
import { expectLogged } from "../../support/log-guard.ts";
import { failStorage } from "../support/faults.ts";
import { makeRoom, type TestRoom, tokens } from "../support/rooms.ts";
import { DocumentClient } from "./document-client.ts";

const EDITORS_WIRES = [{ wire: "yWebsocket" }, { wire: "hocuspocus" }] as const;
const WIRES = [...EDITORS_WIRES, { wire: "room" }] as const;

const REFUSED = "The token is invalid or has expired";

/** A room with an editor and a viewer. */
async function roomWithViewer() {
  const room = await makeRoom();
  return { room, ada: await room.user(), vera: await room.user({ role: "viewer" }) };
}

const rowsOf = (room: TestRoom, table: string): Promise<number> =>
  room.inside((_, { storage }) => [...storage.sql.exec(`SELECT 1 FROM ${table}`)].length);

/** Waits until the room has folded a document, which it does by itself. */
const folded = (room: TestRoom) => expect.poll(() => rowsOf(room, "document_parts")).toBeGreaterThan(0);

describe.each(WIRES)("over $wire", ({ wire }) => {
  it("what one types, others see, and who comes later finds (D1, D9)", async () => {
    const { room, ada, vera } = await roomWithViewer();
    const atAda = await (await DocumentClient.open(room, ada, { wire })).synced();
    const atVera = await (await DocumentClient.open(room, vera, { wire })).synced();
    atAda.type("Hello");
    await atVera.until(() => atVera.text === "Hello");
    const later = await (await DocumentClient.open(room, ada, { wire })).synced();
    expect(later.text).toBe("Hello");
  });

  it("what a client wrote offline arrives when it comes back, also after hibernation (D1, D9)", async () => {
    const { room, ada } = await roomWithViewer();
    const first = await (await DocumentClient.open(room, ada, { wire })).synced();
    const second = await (await DocumentClient.open(room, ada, { wire })).synced();
    await room.hibernate();
    second.type("typed after it woke");
    await first.until(() => first.text === "typed after it woke");
    second.close();
    await second.closed;
    second.type(", and offline");
    const back = await DocumentClient.open(room, ada, { wire });
    Y.applyUpdate(back.doc, Y.encodeStateAsUpdate(second.doc));
    await first.until(() => first.text === "typed after it woke, and offline");
  });

  it("a viewer reads, and changes nothing (D10)", async () => {
    const { room, ada, vera } = await roomWithViewer();
    const atAda = await (await DocumentClient.open(room, ada, { wire })).synced();
    const atVera = await (await DocumentClient.open(room, vera, { wire })).synced();
    atVera.type("no");
    const refusal =
      wire === "yWebsocket" ? [2, "You may not do this: the permission documents:write is missing"] : [8, 0];
    await atVera.until(() => atVera.notes.some((note) => String(note) === String(refusal)));
    atAda.type("yes");
    await atVera.until(() => atVera.text.includes("yes"));
    expect(atAda.text).toBe("yes");
  });

  it("people in documents are people in the room: one session, until the last socket closes (D11)", async () => {
    const { room, ada } = await roomWithViewer();
    const ben = await room.user();
    const atBen = await room.join(ben);
    const client = await (await DocumentClient.open(room, ada, { wire })).synced();
    const joined = await atBen.nextEvent();
    expect(joined).toMatchObject({ event: "userJoined", data: { userId: ada.user.id } });
    const other = await (await DocumentClient.open(room, ada, { wire, name: "other" })).synced();
    await atBen.request("BROADCAST", { event: "hello" }, "1");
    client.close();
    expect(await room.online(ada, ben)).toEqual([ada.user.id, ben.user.id]);
    await room.apply({ type: "user.deleted", userId: ada.user.id });
    expect(await other.closed).toMatchObject({ code: 4401 });
    expect(await room.online(ada)).toEqual([]);
  });

  it("awareness reaches everyone, is bound to its socket, and ends with it (D12)", async () => {
    const { room, ada, vera } = await roomWithViewer();
    const atAda = await (await DocumentClient.open(room, ada, { wire })).synced();
    const atVera = await (await DocumentClient.open(room, vera, { wire })).synced();
    atAda.sendAwareness({ name: "Ada" });
    await atVera.until(() => atVera.awareness.getStates().has(atAda.doc.clientID));
    const entry = encoding.encode((encoder) => {
      for (const number of [1, atAda.doc.clientID, 99]) encoding.writeVarUint(encoder, number);
      encoding.writeVarString(encoder, '{"name":"Mallory"}');
    });
    const { frames } = atVera;
    atVera.sendFrame(1, (encoder) => encoding.writeVarUint8Array(encoder, entry));
    await atVera.until(() => atVera.frames > frames);
    const later = await (await DocumentClient.open(room, vera, { wire })).synced();
    await later.until(() => later.awareness.getStates().has(atAda.doc.clientID));
    expect(later.awareness.getStates().get(atAda.doc.clientID)).toEqual({ name: "Ada" });
    atAda.close();
    await later.until(() => !later.awareness.getStates().has(atAda.doc.clientID));
  });

  it("a client that leaves after hibernation is gone for the others too (D12)", async () => {
    const { room, ada, vera } = await roomWithViewer();
    const [atAda, other, atVera] = await Promise.all(
      [ada, ada, vera].map(async (user) => (await DocumentClient.open(room, user, { wire })).synced()),
    );
    if (!atAda || !other || !atVera) throw new Error("no clients");
    atAda.sendAwareness({ name: "Ada" });
    other.sendAwareness({ name: "Ada elsewhere" });
    const seen = () => [...atVera.awareness.getStates().keys()].filter((id) => id !== atVera.doc.clientID);
    await atVera.until(() => seen().length === 2);
    await room.hibernate();
    atVera.sendAll();
    atAda.sendGone();
    await atVera.until(() => !seen().includes(atAda.doc.clientID));
    await room.hibernate();
    other.close();
    await atVera.until(() => seen().length === 0);
  });

  it("a token that is refused closes the socket for good, unless its client may try another one (D13)", async () => {
    const { room, ada } = await roomWithViewer();
    const client = await DocumentClient.open(room, ada, { wire, token: "no token" });
    if (wire === "hocuspocus") await client.until(() => client.notes.length > 0);
    else expect(await client.closed).toMatchObject({ code: 4401 });
    expect(client.notes).toEqual(wire === "room" ? [] : [[2, REFUSED]]);
    await room.set("closed");
    expect(await (await DocumentClient.open(room, ada, { wire })).closed).toMatchObject({ code: 4403 });
  });

  it("when an update cannot be stored, its client comes back and sends it again (D1, D13)", async () => {
    const { room, ada } = await roomWithViewer();
    const client = await (await DocumentClient.open(room, ada, { wire })).synced();
    const fault = await failStorage(room, /INSERT INTO document_updates/);
    client.type("lost?");
    expect(await client.closed).toMatchObject({ code: 1011 });
    expectLogged("A room could not handle a frame");
    fault.heal();
    const back = await DocumentClient.open(room, ada, { wire });
    Y.applyUpdate(back.doc, Y.encodeStateAsUpdate(client.doc));
    const other = await (await DocumentClient.open(room, ada, { wire })).synced();
    await other.until(() => other.text === "lost?");
  });

  it("a large document arrives part by part, as fast as its client reads (D4, D15)", async () => {
    const { room, ada } = await roomWithViewer();
    const writer = await (await DocumentClient.open(room, ada, { wire })).synced();
    for (const letter of ["a", "b", "c"]) writer.type(letter.repeat(1_000_000));
    await folded(room);
    const reader = await (await DocumentClient.open(room, ada, { wire })).synced();
    expect(reader.text).toBe(writer.text);
  });

  it("a large document arrives whole, even if the room hibernates between two parts (D4, D15, R28)", async () => {
    const { room, ada } = await roomWithViewer();
    const writer = await (await DocumentClient.open(room, ada, { wire })).synced();
    for (const letter of ["a", "b", "c"]) writer.type(letter.repeat(1_000_000));
    await folded(room);
    const reader = await DocumentClient.open(room, ada, { wire });
    reader.pause();
    const { frames } = reader;
    await reader.until(() => reader.frames > frames);
    await room.hibernate();
    reader.read();
    if (wire === "room") {
      reader.sync(); // the SDK does the same after a while
      expect((await reader.synced()).text).toBe(writer.text);
      return;
    }
    expect(await reader.closed).toMatchObject({ code: 1011 });
    const back = await DocumentClient.open(room, ada, { wire });
    Y.applyUpdate(back.doc, Y.encodeStateAsUpdate(reader.doc), back);
    expect((await back.synced()).text).toBe(writer.text);
  });
});

describe.each(EDITORS_WIRES)("over $wire", ({ wire }) => {
  it.each([
    ["bytes that are no frame", new Uint8Array([255, 255, 255]), 4400],
    ["an update that is none", new Uint8Array([0, 2, 2, 9, 9]), 4400],
    ["a frame that is too large", new Uint8Array(DOCUMENT_LIMITS.updateBytes + 5_000), 4400],
  ])("%s closes the socket for good, and harms no one else (D8, D14)", async (_, bytes, code) => {
    const { room, ada, vera } = await roomWithViewer();
    const hostile = await (await DocumentClient.open(room, ada, { wire })).synced();
    const other = await (await DocumentClient.open(room, vera, { wire })).synced();
    const named =
      wire === "hocuspocus" ? new Uint8Array([5, 110, 111, 116, 101, 115, ...bytes.slice(0, 9)]) : bytes;
    hostile.sendBytes(bytes.length > 9 ? bytes : named);
    expect(await hostile.closed).toMatchObject({ code });
    const another = await (await DocumentClient.open(room, ada, { wire })).synced();
    another.type("fine");
    await other.until(() => other.text === "fine");
  });
});

it("a y-websocket client synchronizes with clients of Hocuspocus (D9)", async () => {
  const { room, ada } = await roomWithViewer();
  const one = await (await DocumentClient.open(room, ada)).synced();
  const other = await (await DocumentClient.open(room, ada, { wire: "hocuspocus" })).synced();
  one.type("both");
  await other.until(() => other.text === "both");
  other.type(" ways");
  await one.until(() => one.text === "both ways");
});

it("Hocuspocus' client learns its role, that its changes are stored, and can close a document (D9, D10)", async () => {
  const { room, ada, vera } = await roomWithViewer();
  const client = await (await DocumentClient.open(room, ada, { wire: "hocuspocus" })).synced();
  client.type("x");
  await client.until(() => client.notes.length === 3);
  expect(client.notes).toEqual([
    [2, "read-write"],
    [8, 1],
    [8, 1],
  ]);
  client.sendFrame(7, () => undefined);
  await client.until(() => client.notes.length === 4);
  expect(client.notes[3]).toEqual([7, "provider_initiated"]);
  const viewer = await (await DocumentClient.open(room, vera, { wire: "hocuspocus" })).synced();
  await viewer.until(() => viewer.notes.length === 2);
  expect(viewer.notes).toEqual([
    [2, "readonly"],
    [8, 1],
  ]);
});

it("Hocuspocus' client is sent as many acknowledgements as it counts, whatever had waited for its connection (D9)", async () => {
  const { room, ada } = await roomWithViewer();
  const offline = new Y.Doc();
  const waiting: Uint8Array[] = [];
  offline.on("update", (update: Uint8Array) => waiting.push(update));
  for (const letter of "offline") offline.getText("text").insert(0, letter);
  const before = Y.encodeStateAsUpdate(offline);
  const client = await DocumentClient.open(room, ada, { wire: "hocuspocus" });
  await client.until(() => client.notes.length === 2);
  // Counts like the provider: 1 for step 1, and 1 for each later edit, but none for edits that wait.
  Y.applyUpdate(client.doc, before, client);
  client.sync();
  client.type("!");
  // The answer to a step 1 whose connection was closing by then.
  client.sendFrame(0, (encoder) => writeSyncStep2(encoder, new Y.Doc()));
  for (const update of waiting) client.sendFrame(0, (encoder) => writeUpdate(encoder, update));
  await client.until(() => client.notes.length >= 4);
  client.type("?");
  client.sendFrame(0, (encoder) => writeUpdate(encoder, before));
  client.sendFrame(7, () => undefined);
  await client.until(() => client.notes.at(-1)?.[0] === 7);
  expect(client.notes.slice(2)).toEqual([...Array(4).fill([8, 1]), [7, "provider_initiated"]]);
});

it("what Hocuspocus' client writes while it fetches its token is stored, and acknowledged once (D9)", async () => {
  const { room, ada } = await roomWithViewer();
  const client = await DocumentClient.open(room, ada, { wire: "hocuspocus", typedBefore: "early" });
  await (await client.synced()).until(() => client.notes.length === 2);
  client.sendFrame(7, () => undefined);
  await client.until(() => client.notes.length === 3);
  expect(client.notes).toEqual([
    [2, "read-write"],
    [8, 1],
    [7, "provider_initiated"],
  ]);
  expect((await (await DocumentClient.open(room, ada)).synced()).text).toBe("early");
});

it("a token that is refused to one document keeps no other document of Hocuspocus' socket from opening (D13)", async () => {
  const { room, ada } = await roomWithViewer();
  const client = await DocumentClient.open(room, ada, { wire: "hocuspocus", token: "no token" });
  client.authenticate("no token", "another");
  client.authenticate(ada.token, "third");
  await client.until(() => client.notes.length === 1);
  expect(client.notes).toEqual([[2, REFUSED]]);
  client.sync(); // was sent before the refusal arrived
  client.authenticate(ada.token);
  client.sync();
  await client.until(() => client.notes.some(([, note]) => note === "read-write"));
  await client.synced();
});

it("on a socket that has joined, a token opens its document once it is verified, or is refused (D9, D13)", async () => {
  const { room, ada, vera } = await roomWithViewer();
  const client = await (await DocumentClient.open(room, ada, { wire: "hocuspocus" })).synced();
  await client.until(() => client.notes.length === 2);
  const received = new Map<string, (string | number)[]>();
  client.onFrame = (bytes) => {
    const decoder = decoding.createDecoder(bytes);
    const key = decoding.readVarString(decoder);
    const [type, kind] = [decoding.readVarUint(decoder), decoding.readVarUint(decoder)];
    const frame = type === 2 ? `${kind}: ${decoding.readVarString(decoder)}` : type;
    received.set(key, [...(received.get(key) ?? []), frame]);
  };
  const ask = (key: string) => {
    const frame = encoding.createEncoder();
    encoding.writeVarString(frame, key);
    encoding.writeVarUint(frame, 0);
    writeSyncStep1(frame, new Y.Doc());
    client.sendBytes(encoding.toUint8Array(frame));
  };
  client.authenticate("no token", "refused");
  ask("refused");
  client.authenticate(vera.token, "another user's");
  client.authenticate("no token");
  client.authenticate("no token", "corrected");
  client.authenticate(ada.token, "corrected");
  ask("corrected");
  await client.until(() => received.size === 4 && received.get("corrected")?.length === 4);
  ask("refused");
  client.type("the first document stays open");
  await client.until(() => client.notes.filter(([type]) => type === 8).length === 2);
  expect(Object.fromEntries(received)).toEqual({
    refused: [`1: ${REFUSED}`],
    "another user's": ["1: token: must be of this connection's user"],
    notes: [`1: ${REFUSED}`, 8],
    corrected: [`1: ${REFUSED}`, "2: read-write", 0, 0],
  });
});

it("tokens cannot be tried without end on one socket, nor for long (D13)", async () => {
  const { room, ada } = await roomWithViewer();
  const client = await DocumentClient.open(room, ada, { wire: "hocuspocus", token: "token 0" });
  for (let index = 1; index <= 8; index += 1) client.authenticate(`token ${index}`);
  expect(await client.closed).toMatchObject({ code: 4401 });
  expect(client.notes).toEqual(Array(9).fill([2, REFUSED]));
  const silent = await DocumentClient.open(room, ada, { wire: "hocuspocus", token: "no token" });
  await silent.until(() => silent.notes.length === 1);
  await room.advance(20_000);
  expect(await silent.closed).toMatchObject({ code: 1013 });
});

it("documents that were typed into are folded, and stay the same (D4, D5)", async () => {
  const { room, ada } = await roomWithViewer();
  const client = await (await DocumentClient.open(room, ada)).synced();
  for (let index = 0; index < DOCUMENT_LIMITS.foldUpdates + 10; index += 1) client.type("x");
  await folded(room);
  expect(await rowsOf(room, "document_updates")).toBeLessThan(DOCUMENT_LIMITS.foldUpdates);
  const later = await (await DocumentClient.open(room, ada)).synced();
  expect(later.text).toBe("x".repeat(DOCUMENT_LIMITS.foldUpdates + 10));
});

it("the deletion of a room closes its documents and leaves nothing (D7)", async () => {
  const { room, ada } = await roomWithViewer();
  const client = await (await DocumentClient.open(room, ada)).synced();
  client.type("gone");
  client.sync();
  await client.synced();
  await room.deleteRow();
  await room.apply({ type: "room.deleted" });
  expect(await client.closed).toMatchObject({ code: 4404 });
  expect(await room.tables()).toEqual([]);
});

it("a socket that is silent may come back (D13)", async () => {
  const { room, ada } = await roomWithViewer();
  const client = await (await DocumentClient.open(room, ada)).synced();
  await room.advance(80_000); // the client's last answer may still arrive
  await room.advance(80_000);
  expect(await client.closed).toMatchObject({ code: 1001 });
});

it("a socket whose token has expired is closed for good (D11, D13)", async () => {
  const { room, ada } = await roomWithViewer();
  const terms = { issuedAt: room.now / 1000, ttlSeconds: 60, role: "editor" } as const;
  const token = await tokens.signShortLived(
    { ...ada.user, tokenEpoch: 0, accountTokenEpoch: 0, identityId: null, identityEpoch: null },
    terms,
  );
  const client = await (await DocumentClient.open(room, ada, { token })).synced();
  await room.advance(61_000);
  expect(await client.closed).toMatchObject({ code: 4401 });
});

it("messages of the room reach no client of documents (D9)", async () => {
  const { room, ada } = await roomWithViewer();
  const client = await (await DocumentClient.open(room, ada)).synced();
  const { frames } = client;
  const atBen = await room.join(await room.user());
  await atBen.call("STORE_SET", { store: "s", key: "k", value: 1 });
  client.sendFrame(0, (encoder) => writeSyncStep1(encoder, new Y.Doc()));
  await client.until(() => client.frames === frames + 2);
});
