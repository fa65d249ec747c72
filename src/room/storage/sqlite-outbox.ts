/** A room's outbox and occupancy period in SQLite. */
import { EventName } from "../../wire/events.ts";
import type { RoomFields } from "../../wire/room.ts";
import type { UserRecord } from "../../wire/user.ts";
import { SqlitePart } from "./sqlite-part.ts";
import { LIMIT, type SqliteTables } from "./sqlite-tables.ts";
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
} from "./storage-outbox.ts";

type EventRow = {
  seq: number;
  id: string;
  event: string;
  occurred_at: number;
  body: string;
  owed: string | null;
  trace: string | null;
};

export class SqliteEvents extends SqlitePart implements EventTable {
  readonly #appended: () => void;
  readonly #trace: () => string | null;

  /** Calls `appended` after each event, within the transaction that records it; `trace` is that of the event as JSON. */
  constructor(tables: SqliteTables, appended: () => void, trace: () => string | null) {
    super(tables);
    this.#appended = appended;
    this.#trace = trace;
  }

  append({ id, event, occurredAt, body }: RecordedEvent): void {
    const query = "INSERT INTO events (id, event, occurred_at, body, trace) VALUES (?, ?, ?, ?, ?)";
    this.tables.write(query, id, event, occurredAt, body, this.#trace());
    this.#appended();
  }

  list(limit: number): OutboxEvent[] {
    return this.tables
      .read<EventRow>(`SELECT * FROM events ORDER BY seq ${LIMIT}`, limit)
      .map(({ occurred_at, event, owed, ...row }) => ({
        ...row,
        event: EventName.parse(event),
        occurredAt: occurred_at,
        pendingSubscriptions: owed,
      }));
  }

  writePendingSubscriptions(seq: number, subscriptions: string): void {
    this.tables.write("UPDATE events SET owed = ? WHERE seq = ?", subscriptions, seq);
  }

  delete(seq: number): void {
    this.tables.write("DELETE FROM events WHERE seq = ?", seq);
  }
}

type ChangedRow = {
  store: string;
  fromSeq: number;
  depth: number | null;
  workflowId: string | null;
};

/**
 * A cause stands in a table of its own, and only while workflows alone have changed the store: what anyone else writes,
 * very often, costs nothing more.
 */
export class SqliteChangedStores extends SqlitePart implements ChangedStoreTable {
  /** False while there are certainly none; null if not known. */
  #mayHaveCauses: boolean | null = null;
  /** Of the stores that are noted: to note one again changes nothing, unless a cause is added or removed. */
  readonly #noted = new Set<string>();
  #writtenAt = 0;

  constructor(tables: SqliteTables) {
    super(tables);
    tables.onUndone((writes) => {
      if (this.#writtenAt > writes) this.#forget();
    });
  }

  #forget(): void {
    this.#mayHaveCauses = null;
    this.#noted.clear();
  }

  note({ store, fromSeq, cause }: ChangedStore): void {
    if (cause !== null) {
      this.tables.write(
        `INSERT INTO change_causes (store, depth, workflow_id)
         SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM changed_stores WHERE store = ?1)
           OR EXISTS (SELECT 1 FROM change_causes WHERE store = ?1 AND depth > ?2)
         ON CONFLICT DO UPDATE SET depth = excluded.depth, workflow_id = excluded.workflow_id`,
        store,
        cause.depth,
        cause.workflowId,
      );
      this.#mayHaveCauses = true;
    } else {
      this.#mayHaveCauses ??= this.tables.read("SELECT 1 FROM change_causes LIMIT 1").length > 0;
      if (!this.#mayHaveCauses && this.#noted.has(store)) return;
      if (this.#mayHaveCauses) this.tables.write("DELETE FROM change_causes WHERE store = ?", store);
    }
    this.tables.write("INSERT OR IGNORE INTO changed_stores VALUES (?, ?)", store, fromSeq);
    this.#noted.add(store);
    this.#writtenAt = this.tables.writes;
  }

  list(): ChangedStore[] {
    const query = `SELECT store, from_seq AS fromSeq, depth, workflow_id AS workflowId
      FROM changed_stores LEFT JOIN change_causes USING (store) ORDER BY store`;
    return this.tables.read<ChangedRow>(query).map(({ store, fromSeq, depth, workflowId }) => ({
      store,
      fromSeq,
      cause: depth === null || workflowId === null ? null : { depth, workflowId },
    }));
  }

  clear(): void {
    this.tables.write("DELETE FROM changed_stores");
    this.tables.write("DELETE FROM change_causes");
    this.#forget();
  }
}

export class SqliteDocumentNotes extends SqlitePart implements DocumentNoteTable {
  note({ event, document, seq, name }: Omit<DocumentNote, "position">): void {
    const statement = "INSERT OR IGNORE INTO document_notes (event, document, seq, name) VALUES (?, ?, ?, ?)";
    this.tables.write(statement, event, document, seq, name);
  }

  list(): DocumentNote[] {
    return this.tables.read<DocumentNoteRow>("SELECT * FROM document_notes ORDER BY position");
  }

  delete(position: number): void {
    this.tables.write("DELETE FROM document_notes WHERE position = ?", position);
  }

  deleteUpdate(document: string): void {
    this.tables.write(
      "DELETE FROM document_notes WHERE event = 'document.updated' AND document = ?",
      document,
    );
  }

  clear(): void {
    this.tables.write("DELETE FROM document_notes");
  }
}

/** As `note` wrote it. */
type DocumentNoteRow = {
  position: number;
  event: DocumentNote["event"];
  document: string;
  seq: number;
  name: string | null;
};

export class SqliteOccupancy extends SqlitePart implements OccupancyTable {
  #readFact(name: string): string | null {
    const query = "SELECT value FROM facts WHERE name = ?";
    return this.tables.read<{ value: string }>(query, name)[0]?.value ?? null;
  }

  #writeFact(name: string, value: string): void {
    this.tables.write("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, value);
  }

  readId(): string | null {
    return this.#readFact("session");
  }

  begin(id: string): void {
    this.end();
    this.#writeFact("session", id);
  }

  put({ user, joinedAt }: Participant): void {
    this.tables.write(
      `INSERT INTO participants (user_id, joined_at, user) VALUES (?, ?, ?)
       ON CONFLICT (user_id) DO UPDATE SET joined_at = excluded.joined_at, user = excluded.user`,
      user.id,
      joinedAt,
      JSON.stringify(user),
    );
  }

  update(user: UserRecord): void {
    const query = "UPDATE participants SET user = ? WHERE user_id = ?";
    this.tables.write(query, JSON.stringify(user), user.id);
  }

  list(): Participant[] {
    return this.tables
      .read<{ joined_at: number; user: string }>("SELECT joined_at, user FROM participants ORDER BY position")
      .map((row) => ({ joinedAt: row.joined_at, user: parseUser(row.user) }));
  }

  end(): void {
    this.tables.write("DELETE FROM facts WHERE name = 'session'");
    this.tables.write("DELETE FROM participants");
  }

  readRoom(): RoomFields | null {
    const row = this.#readFact("room");
    return row === null ? null : parseRoom(row);
  }

  writeRoom(row: RoomFields): void {
    this.#writeFact("room", JSON.stringify(row));
  }
}

/** As {@link SqliteOccupancy} wrote them. */
const parseUser = (json: string): UserRecord => JSON.parse(json) as UserRecord;
const parseRoom = (json: string): RoomFields => JSON.parse(json) as RoomFields;
