/** A room's outbox and occupancy period in memory. */

import type {
  ChangedStore,
  ChangedStoreTable,
  DocumentNote,
  DocumentNoteTable,
  EventTable,
  OccupancyTable,
  OutboxEvent,
  Participant,
  RecordedEvent,
} from "../../../src/room/storage/storage-outbox.ts";
import type { RoomFields } from "../../../src/wire/room.ts";
import type { UserRecord } from "../../../src/wire/user.ts";
import { MemoryPart } from "./memory-part.ts";

export class MemoryEvents implements EventTable {
  #rows: readonly OutboxEvent[] = [];
  #lastSeq = 0;

  snapshot(): () => void {
    const [rows, lastSeq] = [this.#rows, this.#lastSeq];
    return () => {
      this.#rows = rows;
      this.#lastSeq = lastSeq;
    };
  }

  clear(): void {
    this.#rows = [];
  }

  append(event: RecordedEvent): void {
    this.#lastSeq += 1;
    this.#rows = [...this.#rows, { ...event, seq: this.#lastSeq, pendingSubscriptions: null, trace: null }];
  }

  list(limit: number): OutboxEvent[] {
    return this.#rows.slice(0, limit);
  }

  writePendingSubscriptions(seq: number, pendingSubscriptions: string): void {
    this.#rows = this.#rows.map((row) => (row.seq === seq ? { ...row, pendingSubscriptions } : row));
  }

  delete(seq: number): void {
    this.#rows = this.#rows.filter((row) => row.seq !== seq);
  }
}

export class MemoryChangedStores
  extends MemoryPart<ReadonlyMap<string, ChangedStore>>
  implements ChangedStoreTable
{
  constructor() {
    super(new Map());
  }

  note(changed: ChangedStore): void {
    const noted = this.state.get(changed.store);
    if (noted !== undefined && noted.cause === null) return;
    const isLower =
      noted === undefined || changed.cause === null || changed.cause.depth < (noted.cause?.depth ?? 0);
    const cause = isLower ? changed.cause : noted.cause;
    const fromSeq = noted?.fromSeq ?? changed.fromSeq;
    this.state = new Map(this.state).set(changed.store, { store: changed.store, fromSeq, cause });
  }

  list(): ChangedStore[] {
    return [...this.state.values()].sort((one, other) => (one.store < other.store ? -1 : 1));
  }
}

export class MemoryDocumentNotes extends MemoryPart<readonly DocumentNote[]> implements DocumentNoteTable {
  constructor() {
    super([]);
  }

  note(note: Omit<DocumentNote, "position">): void {
    const { event, document } = note;
    const isUpdate = event === "document.updated";
    if (isUpdate && this.state.some((other) => other.event === event && other.document === document)) return;
    this.state = [...this.state, { ...note, position: 1 + (this.state.at(-1)?.position ?? 0) }];
  }

  list(): DocumentNote[] {
    return [...this.state];
  }

  delete(position: number): void {
    this.state = this.state.filter((note) => note.position !== position);
  }

  deleteUpdate(document: string): void {
    this.state = this.state.filter((note) => note.event !== "document.updated" || note.document !== document);
  }
}

export class MemoryOccupancy implements OccupancyTable {
  #id: string | null = null;
  #room: RoomFields | null = null;
  /** Replaced, never mutated, so that the old one is a snapshot. */
  #participants: ReadonlyMap<string, Participant> = new Map();

  snapshot(): () => void {
    const [id, room, participants] = [this.#id, this.#room, this.#participants];
    return () => {
      this.#id = id;
      this.#room = room;
      this.#participants = participants;
    };
  }

  clear(): void {
    this.#room = null;
    this.end();
  }

  readId(): string | null {
    return this.#id;
  }

  begin(id: string): void {
    this.end();
    this.#id = id;
  }

  put(participant: Participant): void {
    this.#participants = new Map(this.#participants).set(participant.user.id, participant);
  }

  update(user: UserRecord): void {
    const known = this.#participants.get(user.id);
    if (known !== undefined) this.put({ ...known, user });
  }

  list(): Participant[] {
    return [...this.#participants.values()];
  }

  end(): void {
    this.#id = null;
    this.#participants = new Map();
  }

  readRoom(): RoomFields | null {
    return this.#room;
  }

  writeRoom(row: RoomFields): void {
    this.#room = row;
  }
}
