/** Costs of document frames for their users (R69, D19), so that no one keeps a room busy with them. */

import { rightsOfRole } from "@atrium/contract/resources/permissions.ts";
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { RoomDocuments } from "../../../src/room/documents/documents.ts";
import { Channels, Subscription } from "../../../src/room/documents/sync/channels.ts";
import {
  type DocumentConnection,
  DocumentMessages,
} from "../../../src/room/documents/sync/document-messages.ts";
import type { DocumentFrame } from "../../../src/room/documents/sync/frames.ts";
import { pointsOf } from "../../../src/room/protocol/costs.ts";
import type { RoomStorage } from "../../../src/room/storage/storage.ts";
import { joinedSocket } from "../support/joined-socket.ts";
import { roomOfTwo } from "../support/rooms.ts";
import { test } from "../support/with-storage.ts";
import { DocumentClient } from "./document-client.ts";
import { FREE } from "./opened-documents.ts";
import { missing, NOTHING_KNOWN } from "./yjs-edits.ts";

const KIB = 1024;

/** A document with this number of characters, and Ada, who has it open. */
function documentWith(storage: RoomStorage, characters: number) {
  const documents = new RoomDocuments({ ...FREE, storage, now: () => 1 });
  const doc = new Y.Doc();
  doc.getText("text").insert(0, "x".repeat(characters));
  const update = Y.encodeStateAsUpdate(doc);
  documents.append("notes", update, { type: "organization" });
  const channels = new Channels(documents);
  const messages = new DocumentMessages(documents, channels);
  const subscription = new Subscription(channels.open("notes"), "socket", "notes");
  const connection: DocumentConnection = {
    ...joinedSocket({ rights: rightsOfRole("viewer") }),
    documents: { wire: "room", opened: ["notes"] },
  };
  const receive = (frame: DocumentFrame) => messages.receive(connection, subscription, frame);
  return { documents, doc, update, receive };
}

it("a frame costs 1 point, and 1 more for each 512 bytes (D19)", () => {
  const pointsOfBytes = (bytes: number) => pointsOf({ type: "DOCUMENT", bytes: new Uint8Array(bytes) });
  expect([0, 511, 512, 8 * KIB * KIB].map(pointsOfBytes)).toEqual([1, 1, 2, 16_385]);
});

test("a step 1 costs what has to be merged for it, and whatever a viewer says is counted for it (R69, D19)", ({
  storage,
}) => {
  const { doc, receive, update } = documentWith(storage, 100 * KIB);
  const costs: readonly (readonly [DocumentFrame, number])[] = [
    [{ type: "step1", stateVector: NOTHING_KNOWN }, Math.floor(update.length / 512)],
    [{ type: "step1", stateVector: Y.encodeStateVector(doc) }, Math.floor(update.length / 512)],
    [{ type: "step2", update }, 0],
    [{ type: "awareness", entries: [{ client: 1, clock: 1, state: "{}" }] }, 0],
    [{ type: "queryAwareness" }, 0],
  ];
  for (const [frame, work] of costs)
    expect(receive(frame).at(-1)).toEqual({
      type: "countDelivery",
      userId: "ada",
      isBroadcast: false,
      work,
    });
});

test("of a large document, a client that has nothing of it costs what is not folded yet (D19)", ({
  storage,
}) => {
  const { doc, documents, update } = documentWith(storage, 2_000 * KIB);
  documents.fold("notes");
  expect(documents.bytesToMerge("notes", NOTHING_KNOWN)).toBe(0);
  expect(documents.bytesToMerge("notes", Y.encodeStateVector(doc))).toBeGreaterThan(update.length / 2);
});

test("of a state vector, only clients are kept that have written into the document (D19)", ({ storage }) => {
  const { doc, documents } = documentWith(storage, 10);
  const invented = encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, 10_001);
    for (let client = 1; client <= 10_000; client += 1)
      for (const number of [client, 9]) encoding.writeVarUint(encoder, number);
    for (const number of [doc.clientID, 5]) encoding.writeVarUint(encoder, number);
  });
  const narrowed = documents.narrow("notes", invented);
  expect([...Y.decodeStateVector(narrowed)]).toEqual([[doc.clientID, 5]]);
  expect(missing(documents, "notes", narrowed)).toEqual(missing(documents, "notes", invented));
  expect(documents.narrow("another", invented)).toEqual(NOTHING_KNOWN);
});

it("someone who asks for a document again and again waits, and no one else does (R69, D19)", async () => {
  const { room, ada, atBen } = await roomOfTwo();
  const client = await (await DocumentClient.open(room, ada, { wire: "room" })).synced();
  client.type("x".repeat(500 * KIB));
  await client.until(() => client.notes.length >= 2);
  let answers = 0;
  client.onFrame = (bytes) => {
    const decoder = decoding.createDecoder(bytes);
    decoding.readVarString(decoder);
    const [type, kind] = [decoding.readVarUint(decoder), decoding.readVarUint(decoder)];
    if (type === 0 && kind === 1) answers += 1;
  };
  for (let count = 0; count < 40; count += 1) client.sync();
  expect((await atBen.call("STORE_SET", { store: "s", key: "k", value: 1 })).success).toBe(true);
  // Presence never waits, and its response follows earlier answers.
  client.sendBytes(JSON.stringify({ type: "PRESENCE_UPDATE", requestId: "last", data: { state: null } }));
  await client.until(() => client.messages.some((text) => text.includes('"last"')));
  expect(answers).toBeGreaterThan(25);
  expect(answers).toBeLessThan(30);
  room.now += 60_000;
  await room.inside(() => undefined);
  await client.until(() => answers === 40);
});
