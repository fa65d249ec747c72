/** Documents over the room's own socket: binary frames beside the room's messages. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { expect, it } from "vitest";
import { writeSyncStep1 } from "y-protocols/sync";
import * as Y from "yjs";
import { makeRoom } from "../support/rooms.ts";
import { DocumentClient } from "./document-client.ts";

const wire = "room";

const frame = (name: string, ...numbers: readonly number[]): Uint8Array =>
  encoding.encode((encoder) => {
    encoding.writeVarString(encoder, name);
    encoding.writeUint8Array(encoder, new Uint8Array(numbers));
  });

const step1 = (name: string): Uint8Array =>
  encoding.encode((encoder) => {
    encoding.writeVarString(encoder, name);
    encoding.writeVarUint(encoder, 0);
    writeSyncStep1(encoder, new Y.Doc());
  });

it("a socket carries several documents beside the room's messages (D17)", async () => {
  const room = await makeRoom();
  const [ada, ben] = [await room.user(), await room.user()];
  const atAda = await (await DocumentClient.open(room, ada, { wire, name: "one" })).synced();
  const atBen = await (await DocumentClient.open(room, ben, { wire, name: "two" })).synced();
  const other = await (await DocumentClient.open(room, ben, { name: "two" })).synced();
  atAda.sendBytes(step1("two"));
  atAda.sendBytes(
    JSON.stringify({ type: "STORE_SET", requestId: "1", data: { store: "s", key: "k", value: 1 } }),
  );
  await atBen.until(() => atBen.messages.some((text) => text.includes("storeChanged")));
  const keys = new Set<string>();
  atAda.onFrame = (bytes) => keys.add(decoding.readVarString(decoding.createDecoder(bytes)));
  other.type("in two");
  await atAda.until(() => keys.has("two"));
  await atBen.until(() => atBen.text === "in two");
  expect(atAda.text).toBe("");
});

it("each update is answered once it is on disk: by its status, with the reason of a refusal (D10, D18)", async () => {
  const room = await makeRoom();
  const [ada, vera] = [await room.user(), await room.user({ role: "viewer" })];
  const atAda = await (await DocumentClient.open(room, ada, { wire })).synced();
  await atAda.until(() => atAda.notes.length === 1);
  atAda.type("x");
  await atAda.until(() => atAda.notes.length === 2);
  atAda.sendBytes(frame("notes", 0, 2, 2, 9, 9));
  await atAda.until(() => atAda.notes.length === 4);
  const atVera = await (await DocumentClient.open(room, vera, { wire })).synced();
  await atVera.until(() => atVera.notes.length === 1);
  atVera.type("no");
  await atVera.until(() => atVera.notes.length === 3);
  expect(atAda.notes.slice(0, 3)).toEqual([
    [8, 1],
    [8, 1],
    [8, 0],
  ]);
  expect(atAda.notes[3]?.[1]).toMatch(/^update: /);
  expect(atVera.notes).toEqual([
    [8, 1],
    [8, 0],
    [8, "You may not do this: the permission documents:write is missing"],
  ]);
  expect(atVera.text).toBe("xno");
});

it("awareness is not sent back, since this socket has pings (D18)", async () => {
  const room = await makeRoom();
  const [ada, ben] = [await room.user(), await room.user()];
  const atAda = await (await DocumentClient.open(room, ada, { wire })).synced();
  const atBen = await (await DocumentClient.open(room, ben, { wire })).synced();
  await atAda.until(() => atAda.notes.length === 1);
  const types: number[] = [];
  atAda.onFrame = (bytes) => types.push(bytes[6] ?? -1);
  atAda.sendAwareness({ name: "Ada" });
  await atBen.until(() => atBen.awareness.getStates().has(atAda.doc.clientID));
  atBen.sendAwareness({ name: "Ben" });
  await atAda.until(() => atAda.awareness.getStates().has(atBen.doc.clientID));
  expect(types).toEqual([1]);
});

it("binary frames that are none fail, and documents with too long names are refused (D19, R10)", async () => {
  const room = await makeRoom();
  const ada = await room.user();
  const client = await (await DocumentClient.open(room, ada, { wire })).synced();
  for (const bytes of [new Uint8Array([255, 255]), frame("notes", 77), frame("notes", 2, 0, 0)])
    client.sendBytes(bytes);
  await client.until(() => client.messages.join().split("BAD_REQUEST").length === 4);
  const refused: string[] = [];
  client.onFrame = (bytes) => {
    const decoder = decoding.createDecoder(bytes);
    decoding.readVarString(decoder);
    if (decoding.readVarUint(decoder) === 2) refused.push(new TextDecoder().decode(bytes));
  };
  for (let index = 0; index < 12; index += 1) client.sendBytes(step1(`${index}`.padStart(250, "n")));
  await client.until(() => refused.length > 0);
  expect(refused[0]).toContain("The document's name is empty, too long,");
  for (const name of [".", "..", "a\0b"]) {
    const before = refused.length;
    client.sendBytes(step1(name));
    await client.until(() => refused.length > before);
    expect(refused.at(-1)).toContain("The document's name is");
  }
  client.sendBytes(frame("notes", 7));
  await client.until(() => client.notes.some(([type]) => type === 7));
  client.sendBytes(new Uint8Array(DOCUMENT_LIMITS.documentFrameBytes + 1));
  expect(await client.closed).toMatchObject({ code: 4413 });
});

it("documents that a socket has open survive hibernation beside all else that it keeps (D17)", async () => {
  const room = await makeRoom();
  const [ada, ben] = [await room.user(), await room.user()];
  const names = [1, 2, 3, 4, 5, 6, 7].map((index) => `${index}`.repeat(255));
  const atAda = await (await DocumentClient.open(room, ada, { wire, name: names[6] ?? "" })).synced();
  const say = (type: string, data: object) =>
    atAda.sendBytes(JSON.stringify({ type, requestId: type, data }));
  say("PRESENCE_UPDATE", { state: { x: "é".repeat(4_050) } });
  for (let index = 0; index < 19; index += 1)
    say("PRESENCE_SUBSCRIBE", { target: `${index}`.padStart(255, "é"), on: true });
  for (const name of names.slice(0, 6)) atAda.sendBytes(step1(name));
  await atAda.until(() => atAda.messages.filter((text) => text.includes("PRESENCE_SUBSCRIBE")).length > 0);
  await room.hibernate();
  const atBen = await (await DocumentClient.open(room, ben, { name: names[6] ?? "" })).synced();
  atBen.type("awake");
  await atAda.until(() => atAda.text === "awake");
  expect(atAda.messages.join()).not.toContain("INTERNAL_ERROR");
});
