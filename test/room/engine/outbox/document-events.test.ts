/** Document events are reported together, each once and in order, while a subscriber listens. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import type { DocumentUpdatedEvent, EventName, VersionEvent } from "@atrium/contract/resources/events.ts";
import type { EventCause } from "@atrium/contract/resources/present-event.ts";
import { expect } from "vitest";
import { DocumentHistory } from "../../../../src/room/documents/document-history.ts";
import { RoomDocuments } from "../../../../src/room/documents/documents.ts";
import { DocumentEvents } from "../../../../src/room/engine/outbox/delayed-events.ts";
import type { SqliteStorage } from "../../../../src/room/storage/storage.ts";
import { FREE } from "../../documents/opened-documents.ts";
import { updatesOf } from "../../documents/yjs-edits.ts";
import { eventPorts } from "../../support/room-ports.ts";
import { ROOM } from "../../support/rows.ts";
import { test } from "../../support/with-storage.ts";

const ADA = { type: "user", id: "ada" } as const;

let now: number;
let cause: EventCause | null;
let storage: SqliteStorage;
let events: DocumentEvents;
let documents: RoomDocuments;
let history: DocumentHistory;
let letters: Uint8Array[];

/** Restarts the room. */
function open(): void {
  events = new DocumentEvents(eventPorts({ storage, now: () => now, cause: () => cause }));
  const ports = { ...FREE, events, storage, now: () => now };
  documents = new RoomDocuments(ports);
  history = new DocumentHistory(ports, documents);
}

/** A test of a room that has just begun. */
const it = (title: string, work: () => unknown) =>
  test(title, (tables) => {
    storage = tables.storage;
    now = 1_000_000;
    cause = null;
    open();
    events.offerRow(ROOM);
    const edits = Array.from(
      { length: 12 },
      () => ({ client: 0, kind: "insert", at: 0, text: "a" }) as const,
    );
    letters = updatesOf(edits).map(({ update }) => update);
    return work();
  });

const write = (name: string) => documents.append(name, letters.shift() ?? new Uint8Array(), ADA);

const report = (isHeard: (event: EventName) => boolean = () => true) => {
  now += 10_000;
  return events.report(
    async (event) => isHeard(event),
    async () => {},
  );
};

const recorded = () =>
  storage.events.list(99).map(({ event, body }) => {
    const { roomId: _, ...data } = (JSON.parse(body) as DocumentUpdatedEvent | VersionEvent).data;
    return [event, ...Object.values(data)];
  });

it("a creation, all updates of ten seconds as one, versions and a deletion (D24)", async () => {
  for (const name of ["a", "a", "b", "a"]) write(name);
  history.change("a", { type: "create", name: "Draft", by: ADA });
  expect(events.dueAt()).toBe(now + 10_000);
  await report();
  const first = [
    ["document.created", "a"],
    ["document.updated", "a", 2, 3],
    ["document.created", "b"],
    ["version.created", "a", 3, "Draft"],
  ];
  expect([recorded(), events.dueAt()]).toEqual([first, null]);
  now += DOCUMENT_LIMITS.versionQuietMs;
  write("b");
  write("a");
  documents.delete("a");
  await report();
  expect(recorded().slice(first.length)).toEqual([
    ["version.created", "b", 1, null],
    ["document.updated", "b", 2, 2],
    ["document.deleted", "a"],
  ]);
});

it("updates that workflows alone have made have the lowest depth of these, all others none (D24)", async () => {
  for (const name of ["a", "b", "c"]) write(name);
  await report();
  for (const depth of [3, 2, 4]) {
    cause = { workflowId: `w${depth}`, depth };
    write("a");
    if (depth === 2) write("b");
  }
  cause = null;
  for (const name of ["b", "c"]) write(name);
  cause = { workflowId: "w1", depth: 1 };
  write("c");
  await report();
  const updated = storage.events.list(9).map(({ body }) => JSON.parse(body));
  expect(updated.slice(3).map(({ data, depth, workflowId }) => [data.document, depth, workflowId])).toEqual([
    ["a", 2, "w2"],
    ["b", undefined, undefined],
    ["c", undefined, undefined],
  ]);
});

it("only what a subscriber listens to is recorded, and while none does the room looks for one once a minute (D24)", async () => {
  write("a");
  await report(() => false);
  expect([recorded(), events.dueAt(), storage.documentNotes.list()]).toEqual([[], null, []]);
  write("a");
  expect(events.dueAt()).toBe(now + 60_000);
  now += 60_000;
  write("b");
  await report((event) => event === "document.updated");
  expect([recorded(), storage.documentNotes.list()]).toEqual([[["document.updated", "a", 2, 2]], []]);
});

it("what happens while the room looks for subscribers is reported, whatever the answer (D24)", async () => {
  write("a");
  await report(() => {
    if (storage.documentNotes.list().length === 1) write("a");
    return false;
  });
  now += 60_000;
  await report();
  expect(recorded()).toEqual([
    ["document.created", "a"],
    ["document.updated", "a", 2, 2],
  ]);
});

it("what is noted outlives the object, and is not noted when its change fails (D24)", async () => {
  write("a");
  open();
  expect(events.dueAt()).toBe(now);
  const failing = () =>
    storage.transaction(() => {
      documents.append("b", letters.shift() ?? new Uint8Array(), ADA);
      throw new Error("on purpose");
    });
  expect(failing).toThrow("on purpose");
  await report();
  expect(recorded()).toEqual([["document.created", "a"]]);
});
