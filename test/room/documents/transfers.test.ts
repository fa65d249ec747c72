/** Transfer of documents part by part, and the room's memory of clients that it asks. */
import * as encoding from "lib0/encoding";
import { expect, vi } from "vitest";
import * as Y from "yjs";
import { RoomDocuments } from "../../../src/room/documents/documents.ts";
import { KNOWN_PART } from "../../../src/room/documents/loaded-documents.ts";
import { Channels, Subscription } from "../../../src/room/documents/sync/channels.ts";
import {
  type DocumentConnection,
  DocumentMessages,
} from "../../../src/room/documents/sync/document-messages.ts";
import { type DocumentFrame, parseDocumentFrame } from "../../../src/room/documents/sync/frames.ts";
import type { RoomStorage } from "../../../src/room/storage/storage.ts";
import type { Effect } from "../../../src/room/transport/connection.ts";
import { joinedSocket } from "../support/joined-socket.ts";
import { test } from "../support/with-storage.ts";
import { FREE } from "./opened-documents.ts";
import { NOTHING_KNOWN } from "./yjs-edits.ts";

const MEBIBYTE = 1024 * 1024;
const NOTHING = new Uint8Array([0, 0]);
const STEP_1 = { type: "step1", stateVector: NOTHING_KNOWN } as const;
const ANSWER = { type: "step2", update: NOTHING } as const;

/** Ada's socket of Hocuspocus' client, which has documents open. */
function openRoom(storage: RoomStorage) {
  const documents = new RoomDocuments({ ...FREE, storage, now: () => 1 });
  const channels = new Channels(documents);
  const effects: Effect[] = [];
  const messages = new DocumentMessages(documents, channels);
  const connection: DocumentConnection = {
    ...joinedSocket(),
    documents: { wire: "hocuspocus", opened: ["notes", "other"] },
  };
  const open = (name: string) => {
    const subscription = new Subscription(channels.open(name), "socket", name);
    channels.open(name).add(subscription);
    const receive = (frame: DocumentFrame) => {
      effects.splice(0, effects.length, ...messages.receive(connection, subscription, frame));
      return sentIn(effects);
    };
    return { subscription, receive };
  };
  const fold = () => channels.foldDue((...changed) => messages.transfers.restart(...changed));
  const write = (name: string, update: Uint8Array) => {
    documents.append(name, update, { type: "organization" });
    channels.foldIfDue(name);
  };
  const mark = (subscription: Subscription) =>
    messages.transfers.ask(subscription, { mark: 1, isSync: false });
  const staysAwake = () => effects.some(({ type }) => type === "stayAwake");
  return { storage, mark, staysAwake, open, write, fold };
}

/** The frames that are sent; a status is of no kind that a client sends. */
const sentIn = (effects: readonly Effect[]): DocumentFrame[] =>
  effects.flatMap((effect) =>
    effect.type === "sendBytes" ? (parseDocumentFrame(effect.frame, true)?.frame ?? []) : [],
  );

const typesOf = (frames: readonly DocumentFrame[]) => frames.map(({ type }) => type);

/** A document that is stored in three parts and later updates. */
function writeLarge({ write, fold }: Pick<ReturnType<typeof openRoom>, "write" | "fold">): Y.Doc {
  const doc = new Y.Doc();
  doc.on("update", (update: Uint8Array) => write("notes", update));
  for (const [letter, length] of [
    ["a", 6],
    ["b", 3],
    ["c", 1.25],
  ] as const) {
    doc.getText("text").insert(0, letter.repeat(length * MEBIBYTE));
    fold();
  }
  doc.getText("text").insert(0, "d");
  return doc;
}

test("a client that asks again and again without answering is asked once, and nothing more is kept of it (D15)", ({
  storage,
}) => {
  const room = openRoom(storage);
  const { receive, subscription } = room.open("other");
  const types = Array.from({ length: 1_000 }, () => typesOf(receive(STEP_1)));
  expect(types[0]).toEqual(["step2", "step1"]);
  expect(new Set(types.slice(1).map(String))).toEqual(new Set(["step2"]));
  expect(subscription.unanswered).toHaveLength(1);
  writeLarge(room);
  const large = room.open("notes");
  expect(typesOf(large.receive(STEP_1))).toEqual(["update", "step1"]);
  for (const frame of [STEP_1, ANSWER, STEP_1, ANSWER]) {
    large.receive(frame);
    for (let again = 0; again < 1_000; again += 1) expect(large.receive(STEP_1)).toEqual([]);
    expect(large.subscription.unanswered).toHaveLength(1);
  }
});

test("Hocuspocus' client hears that all is stored after all is, also if it has deleted without a connection (D9)", ({
  storage,
}) => {
  const room = openRoom(storage);
  const doc = new Y.Doc();
  doc.getText("text").insert(0, "x");
  const before = Y.encodeStateAsUpdate(doc);
  room.write("notes", before);
  const updates: Uint8Array[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(update));
  doc.getText("text").delete(0, 1);
  doc.getText("text").insert(0, "a paste");
  const { receive } = room.open("notes");
  const statuses = (frame: DocumentFrame) =>
    typesOf(receive(frame)).filter((type) => type === "other").length;
  receive({ type: "step1", stateVector: Y.encodeStateVector(doc) });
  // The client counts one change, and sends these two although they are part of it.
  expect(updates.map((update) => statuses({ type: "update", update }))).toEqual([0, 0]);
  expect(statuses({ type: "step2", update: Y.encodeStateAsUpdate(doc) })).toBe(2);
  expect(statuses({ type: "update", update: before })).toBe(1);
});

test("Hocuspocus' client hears so in a document that very many clients have written (D9)", ({ storage }) => {
  const room = openRoom(storage);
  const many = encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, 20_000);
    // One deleted operation each.
    for (let client = 20_000; client > 0; client -= 1)
      for (const number of [1, client, 0, 0, 1]) encoding.writeVarUint(encoder, number);
    encoding.writeVarUint(encoder, 0);
  });
  room.write("notes", many);
  const doc = new Y.Doc();
  Y.applyUpdate(doc, many);
  doc.getText("text").insert(0, "offline");
  const { receive } = room.open("notes");
  receive({ type: "step1", stateVector: Y.encodeStateVector(doc) });
  const offline = Y.encodeStateAsUpdate(doc, Y.encodeStateVectorFromUpdate(many));
  expect(typesOf(receive({ type: "update", update: offline }))).toEqual([]);
  expect(typesOf(receive({ type: "step2", update: offline }))).toEqual(["other"]);
});

test("of edits that Hocuspocus' client sends together, those from before its step 1 have no status (D9)", ({
  storage,
}) => {
  const room = openRoom(storage);
  const doc = new Y.Doc();
  doc.getText("text").insert(0, "before");
  const stateVector = Y.encodeStateVector(doc);
  doc.getText("text").insert(0, "after");
  const { receive } = room.open("notes");
  receive({ type: "step1", stateVector });
  const together = receive({ type: "update", update: Y.encodeStateAsUpdate(doc) });
  expect([typesOf(together), typesOf(receive(ANSWER))]).toEqual([[], ["other"]]);
});

test("a part of a large document is read when it is sent, and none is kept for the next one (D4)", ({
  storage,
}) => {
  const room = openRoom(storage);
  writeLarge(room);
  const read = vi.spyOn(room.storage.documents, "readPart");
  const partsRead = () => read.mock.calls.splice(0).flatMap(([, part]) => (part === KNOWN_PART ? [] : part));
  const { receive } = room.open("notes");
  const sent = [receive(STEP_1), partsRead(), receive(ANSWER), partsRead(), receive(ANSWER), partsRead()];
  expect(sent.filter((_, index) => index % 2 === 1)).toEqual([[0], [1], [2]]);
  expect(typesOf(receive(ANSWER))).toEqual(["other"]);
});

test("a client receives only the parts again that were folded meanwhile, so that steady edits let it finish (D4)", ({
  storage,
}) => {
  const room = openRoom(storage);
  const doc = writeLarge(room);
  const reader = new Y.Doc();
  const { receive } = room.open("notes");
  const apply = (frames: readonly DocumentFrame[]) => {
    for (const frame of frames)
      if (frame.type === "update" || frame.type === "step2") Y.applyUpdate(reader, frame.update);
    return frames.some(({ type }) => type === "step2");
  };
  let isSynced = apply(receive(STEP_1));
  for (let turn = 0; turn < 20 && !isSynced; turn += 1) {
    const before = Y.encodeStateVector(doc);
    doc.getText("text").insert(0, "e".repeat(1.5 * MEBIBYTE));
    Y.applyUpdate(reader, Y.encodeStateAsUpdate(doc, before)); // all others receive this as well
    room.fold();
    isSynced = apply(receive(ANSWER));
  }
  expect(isSynced).toBe(true);
  expect(reader.getText("text").length).toBe(doc.getText("text").length);
});

test("while a part is not answered, the room does not hibernate, and once the last one is sent it may (D15)", ({
  storage,
}) => {
  const room = openRoom(storage);
  writeLarge(room);
  const { receive } = room.open("notes");
  const stays = [STEP_1, ANSWER, ANSWER, ANSWER].map((frame) => receive(frame) && room.staysAwake());
  expect(stays).toEqual([true, true, false, false]);
});

test("the answer to a mark brings no further part, so that one is on its way at a time (D15)", ({
  storage,
}) => {
  const room = openRoom(storage);
  writeLarge(room);
  const { receive, subscription } = room.open("notes");
  receive(STEP_1);
  room.mark(subscription);
  const sent = [receive(ANSWER), receive(ANSWER), receive(ANSWER)].map(typesOf);
  expect(sent).toEqual([["update", "step1"], [], ["update", "step2", "step1"]]);
});

test("an answer about one document of a socket is none about another one (D9)", ({ storage }) => {
  const room = openRoom(storage);
  writeLarge(room);
  room.open("other").receive(STEP_1);
  const { receive } = room.open("notes");
  receive(STEP_1);
  // The client is synchronized, and a status says so, once it has answered the last part.
  expect([receive(ANSWER), receive(ANSWER), receive(ANSWER)].map(typesOf)).toEqual([
    ["update", "step1"],
    ["update", "step2", "step1"],
    ["other"],
  ]);
});
