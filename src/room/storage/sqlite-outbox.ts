/** A room's outbox and occupancy period in SQLite. */
import { EventName } from "@atrium/contract/resources/events.ts";
import type { EventCause } from "@atrium/contract/resources/present-event.ts";
import { parseRoom, type RoomFields } from "@atrium/contract/resources/room.ts";
import { type OwnLimits, parseLimits } from "@atrium/contract/resources/room-limits.ts";
import { parseUser, type UserRecord } from "@atrium/contract/resources/user.ts";
import { SqlitePart, type SqliteTables, StagedWrites } from "./sqlite-tables.ts";

interface RecordedEvent {
  readonly id: string;
  readonly event: EventName;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  readonly body: string;
}

interface TracedEvent extends RecordedEvent {
  /** The trace of its request as JSON; null for none. */
  readonly trace: string | null;
}

/** An event that has not reached all of its subscribers. */
export interface OutboxEvent extends TracedEvent {
  readonly seq: number;
  /** The subscriptions to reach, as JSON; null until they are looked up. */
  readonly pendingSubscriptions: string | null;
}

interface EventRow extends Omit<OutboxEvent, "pendingSubscriptions"> {
  readonly owed: string | null;
  readonly more: string | null;
}

interface NewRow {
  readonly trace: string | null;
  readonly first: RecordedEvent;
  readonly others: RecordedEvent[];
}

/** Events by the rows that take them, in order. */
function rowsOf(events: readonly TracedEvent[]): NewRow[] {
  const rows: NewRow[] = [];
  let characters = 0;
  for (const { trace, ...event } of events) {
    characters += event.body.length;
    const row = rows.at(-1);
    if (row?.trace === trace && characters <= MAX_ROW_CHARACTERS) row.others.push(event);
    else {
      rows.push({ trace, first: event, others: [] });
      characters = event.body.length;
    }
  }
  return rows;
}

function eventsOf({ owed, more, ...first }: EventRow): OutboxEvent[] {
  if (more === null) return [{ ...first, event: EventName.parse(first.event), pendingSubscriptions: owed }];
  const pending = owed === null ? {} : (JSON.parse(owed) as Readonly<Record<string, string>>);
  return [first, ...(JSON.parse(more) as RecordedEvent[])].map((event) => ({
    ...{ seq: first.seq, trace: first.trace, pendingSubscriptions: pending[event.id] ?? null },
    ...event,
  }));
}

interface ChangedStore {
  readonly store: string;
  readonly fromSeq: number;
  /** The run behind these changes, with the lowest depth; null if others have made some. */
  readonly cause: EventCause | null;
}

export type DocumentEventName = Extract<EventName, `document.${string}` | `version.${string}`>;

/** Something that happened to a document, until an event is recorded for it. */
export interface DocumentNote {
  readonly position: number;
  readonly event: DocumentEventName;
  readonly document: string;
  /** The number of the first update that it is about, or of the version. */
  readonly seq: number;
  readonly name: string | null;
  /** As that of a {@link ChangedStore}. */
  readonly cause: EventCause | null;
}

/** A user who took part in the occupancy period. */
interface Participant {
  readonly user: UserRecord;
  readonly joinedAt: number;
}

/** The bodies of one row, in characters: a row may have 2 MB. */
const MAX_ROW_CHARACTERS = 256 * 1024;
/** The rows that are passed on together, in characters: a call takes 32 MiB. */
const MAX_LISTED_CHARACTERS = 4 * 1024 * 1024;

/**
 * The events that the outbox has yet to pass on. Events of a transaction and a trace share a row: `more` has all but the
 * first, and `owed` of such a row the subscriptions by the IDs of its events.
 */
export class SqliteEvents extends SqlitePart {
  readonly #appended: () => void;
  readonly #trace: () => string | null;
  readonly #staged: StagedWrites<TracedEvent>;

  /** Calls `appended` after events, within the transaction that records it; `trace` is that of the event as JSON. */
  constructor(tables: SqliteTables, appended: () => void, trace: () => string | null) {
    super(tables);
    this.#appended = appended;
    this.#trace = trace;
    this.#staged = new StagedWrites(tables, (events) => this.#insert(events));
  }

  append(event: RecordedEvent): void {
    this.#staged.add({ ...event, trace: this.#trace() }, () => () => {});
    this.#appended();
  }

  #insert(events: readonly TracedEvent[]): void {
    for (const { trace, first, others } of rowsOf(events)) {
      const { id, event, occurredAt, body } = first;
      const more = others.length === 0 ? null : JSON.stringify(others);
      this.tables.insert("events", { id, event, occurred_at: occurredAt, body, trace, more });
    }
  }

  /** The oldest events: those of at most `limit` rows, and of fewer if these are large. */
  list(limit: number): OutboxEvent[] {
    const query = `SELECT seq, id, event, occurred_at AS occurredAt, body, owed, trace, more
      FROM events WHERE seq > ? ORDER BY seq`;
    const events: OutboxEvent[] = [];
    let [rows, characters] = [0, 0];
    for (const row of this.tables.scan<EventRow>(query, [0], ({ seq }) => [seq])) {
      events.push(...eventsOf(row));
      rows += 1;
      characters += row.body.length + (row.more?.length ?? 0);
      if (rows === limit || characters > MAX_LISTED_CHARACTERS) break;
    }
    return events;
  }

  /** Keeps the subscriptions that an event has yet to reach: none for one of a row whose others have some. */
  writePending(seq: number, subscriptions: string, id: string): void {
    this.tables.write(
      `UPDATE events SET owed = iif(more IS NULL, ?1, json_patch(ifnull(owed, '{}'), json_object(?2, ?1)))
       WHERE seq = ?3`,
      ...[subscriptions, id, seq],
    );
  }

  delete(seq: number): void {
    this.tables.write("DELETE FROM events WHERE seq = ?", seq);
  }
}

/** A cause has a table of its own, and stays while workflows alone change the store: other writes cost nothing more. */
export class SqliteChangedStores extends SqlitePart {
  /** Null if not known. */
  #mayHaveCauses: boolean | null = null;
  /** Stores whose note is stored. Noting one again writes only its cause. */
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

  /** A noted store keeps the earlier seq and the lower depth. */
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
    return this.tables
      .read<Omit<ChangedStore, "cause"> & (EventCause | { depth: null })>(query)
      .map(({ store, fromSeq, ...cause }) => ({
        store,
        fromSeq,
        cause: cause.depth === null ? null : cause,
      }));
  }

  clear(): void {
    this.tables.write("DELETE FROM changed_stores");
    this.tables.write("DELETE FROM change_causes");
    this.#forget();
  }
}

/** Documents whose events are recorded together after an interval. */
export class SqliteDocumentNotes extends SqlitePart {
  /** Notes a document's event. The first `document.updated` of each document stays, with the lower depth. */
  note({ event, document, seq, name, cause }: Omit<DocumentNote, "position">): void {
    const statement = `INSERT INTO document_notes (event, document, seq, name, depth, workflow_id)
      VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (document) WHERE event = 'document.updated' DO UPDATE
      SET depth = excluded.depth, workflow_id = excluded.workflow_id
      WHERE depth > ifnull(excluded.depth, 0)`;
    this.tables.write(statement, event, document, seq, name, cause?.depth ?? null, cause?.workflowId ?? null);
  }

  list(): DocumentNote[] {
    const query = "SELECT *, workflow_id AS workflowId FROM document_notes ORDER BY position";
    return this.tables
      .read<Omit<DocumentNote, "cause"> & (EventCause | { depth: null })>(query)
      .map(({ position, event, document, seq, name, ...cause }) => ({
        ...{ position, event, document, seq, name },
        cause: cause.depth === null ? null : { workflowId: cause.workflowId, depth: cause.depth },
      }));
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

/** The occupancy period, from the first user to the last: its participants, and the room in its events. */
export class SqliteOccupancy extends SqlitePart {
  #limits: OwnLimits | null = null;

  #readFact(name: string): string | null {
    const query = "SELECT value FROM facts WHERE name = ?";
    return this.tables.find<{ value: string }>(query, name)?.value ?? null;
  }

  /** Adds or updates a participant, who keeps their earlier position. */
  put({ user, joinedAt }: Participant, position: number): void {
    this.tables.write(
      `INSERT INTO participants (user_id, position, joined_at, user) VALUES (?, ?, ?, ?)
       ON CONFLICT (user_id) DO UPDATE SET joined_at = excluded.joined_at, user = excluded.user`,
      ...[user.id, position, joinedAt, JSON.stringify(user)],
    );
  }

  update(user: UserRecord): void {
    const query = "UPDATE participants SET user = ? WHERE user_id = ?";
    this.tables.write(query, JSON.stringify(user), user.id);
  }

  list(): Participant[] {
    return this.tables
      .read<{ joinedAt: number; user: string }>(
        "SELECT joined_at AS joinedAt, user FROM participants ORDER BY position",
      )
      .map(({ joinedAt, user }) => ({ joinedAt, user: parseUser(user) }));
  }

  end(): void {
    this.tables.write("DELETE FROM participants");
  }

  /** The room's row as last read from the database; null before the first join. */
  readRoom(): RoomFields | null {
    const row = this.#readFact("room");
    return row === null ? null : parseRoom(row);
  }

  /** Writes the row if it has changed. */
  writeRoom(row: RoomFields): void {
    const json = JSON.stringify(row);
    if (json !== this.#readFact("room"))
      this.tables.write("INSERT OR REPLACE INTO facts VALUES ('room', ?)", json);
  }

  /** The limits of the row that was read last: {@link recordLimits}, or since the start that of {@link readRoom}. */
  get limits(): OwnLimits {
    this.#limits ??= parseLimits(this.readRoom()?.limits ?? null);
    return this.#limits;
  }

  recordLimits(row: RoomFields): void {
    this.#limits = parseLimits(row.limits);
  }
}
