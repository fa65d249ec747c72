/** The items of one inbox in the database of its shard, and how far they are read. */
import type { InboxPosition, InboxRemoval } from "../../wire/inbox.ts";
import { COLUMNS, deleteItems, type InboxTables, KEPT_MS } from "./inbox-tables.ts";
import {
  type ChangedItem,
  type InboxItem,
  type InboxNotification,
  presentNotification,
  type StoredActivity,
} from "./schema.ts";

/** Items are counted once in `countedEvery` changes. */
export const LIMITS = { items: 10_000, countedEvery: 128 };
const FOREVER = Number.MAX_SAFE_INTEGER;

/** An item is read up to a seq. */
export interface ItemPosition {
  readonly id: string;
  readonly upTo: number;
}

interface InboxFilter {
  readonly unread: boolean | null;
  readonly roomId: string | null;
  readonly kind: string | null;
}

export interface ItemsPage extends InboxFilter {
  readonly limit: number;
  readonly after: { readonly notifiedAt: number; readonly id: string } | null;
}

const SHOWN = "seq > deleted_seq";
const UNREAD = "seq > read_seq";
const OF_SUBJECT = "identity_id = ? AND room_id = ? AND kind = ? AND subject_id = ?";
const OF_ACTIVITIES = "identity_id = ? AND id IN (SELECT value FROM json_each(?))";

type Subject = Pick<InboxPosition, "roomId" | "kind" | "subjectId">;
const keyOf = ({ roomId, kind, subjectId }: Subject) => [roomId ?? "", kind, subjectId] as const;

export class InboxStore {
  readonly tables: InboxTables;
  readonly identityId: string;
  readonly #newId: () => string;
  readonly #limits: typeof LIMITS;

  /** Tests keep fewer items. */
  constructor(tables: InboxTables, identityId: string, newId: () => string, limits = LIMITS) {
    this.tables = tables;
    this.identityId = identityId;
    this.#newId = newId;
    this.#limits = limits;
  }

  #row<Row extends object>(columns: string): Row | null {
    const query = `SELECT ${columns} FROM inboxes WHERE identity_id = ?`;
    return this.tables.first(query, this.identityId);
  }

  /** Counts the changes of the inbox. */
  get seq(): number {
    return this.#row<{ seq: number }>("seq")?.seq ?? 0;
  }

  /** As JSON; null before the identity has changed any. */
  get settings(): string | null {
    return this.#row<{ settings: string | null }>("settings")?.settings ?? null;
  }

  /** Makes the inbox if it is missing. False when its identity was deleted. */
  open(): boolean {
    this.tables.create();
    this.tables.write("INSERT OR IGNORE INTO inboxes (identity_id) VALUES (?)", this.identityId);
    return this.#row<{ isRemoved: number }>("removed_at IS NOT NULL AS isRemoved")?.isRemoved === 0;
  }

  /** False when the identity was deleted. */
  keepSettings(settings: string): boolean {
    return this.tables.transaction(() => {
      if (!this.open()) return false;
      this.tables.write("UPDATE inboxes SET settings = ? WHERE identity_id = ?", settings, this.identityId);
      return true;
    });
  }

  /** Runs changes in one transaction, which count as one unless `work` returns nothing. Of a deleted identity nothing changes. */
  #change<T>(work: () => readonly T[]): readonly T[] {
    return this.tables.transaction(() => {
      if (!this.open()) return [];
      const changed = work();
      if (changed.length > 0)
        this.tables.write("UPDATE inboxes SET seq = seq + 1 WHERE identity_id = ?", this.identityId);
      return changed;
    });
  }

  #find(subject: Subject): InboxItem | null {
    const query = `SELECT ${COLUMNS} FROM items WHERE ${OF_SUBJECT}`;
    return this.tables.first(query, this.identityId, ...keyOf(subject));
  }

  /** Inserts a subject without activities, read and deleted up to these positions. */
  #insert(subject: Subject, at: number, readSeq: number, deletedSeq = 0): void {
    const id = this.#newId();
    this.tables.write(
      `INSERT INTO items (id, identity_id, room_id, kind, subject_id, seq, read_seq, deleted_seq, notified_at, read_at)
       VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?)`,
      ...[id, this.identityId, ...keyOf(subject), readSeq, deletedSeq, at, at],
    );
    if (this.seq % this.#limits.countedEvery === 0) this.makeRoom(id);
  }

  /** Makes room for items until the next count: the oldest go, those first that are read, and never the new one. */
  makeRoom(newest: string): void {
    const { items, countedEvery } = this.#limits;
    const query = "SELECT count(*) AS count FROM items WHERE identity_id = ?";
    const count = this.tables.first<{ count: number }>(query, this.identityId)?.count ?? 0;
    const excess = Math.max(0, count - items + countedEvery - 1);
    this.#drop(`id <> ? ORDER BY ${UNREAD}, notified_at, id LIMIT ?`, [newest, excess]);
  }

  /** Deletes the items of the inbox that fulfil the condition. */
  #drop(condition: string, params: readonly SqlStorageValue[]): void {
    const query = `SELECT number FROM items WHERE identity_id = ? AND ${condition}`;
    const found = this.tables.read<{ number: number }>(query, this.identityId, ...params);
    deleteItems(
      this.tables,
      found.map(({ number }) => number),
    );
  }

  /** Keeps only the IDs of the activities that the query selects. */
  #forget(query: string, ...params: SqlStorageValue[]): void {
    this.tables.write(
      `UPDATE activities SET item = NULL, created_by = NULL, data = NULL WHERE identity_id = ? AND id IN (${query})`,
      ...[this.identityId, ...params],
    );
  }

  /** Returns the item if it is not unread any more. */
  markRead(position: InboxPosition, now: number): readonly ChangedItem[] {
    return this.#change(() => {
      const item = this.#find(position);
      if (item === null) {
        // The organization's own are numbered by the inbox, so that nothing later can be read already.
        if (!position.kind.startsWith("$")) this.#insert(position, now, position.upTo);
        return [];
      }
      return this.#read(item, position.upTo, now) ? [item] : [];
    });
  }

  /** Marks items as read up to positions, but not beyond their latest activities. Returns those that are not unread any more. */
  markItems(positions: readonly ItemPosition[], now: number): readonly ChangedItem[] {
    return this.#change(() =>
      positions.flatMap(({ id, upTo }) => {
        const item = this.find(id);
        return item !== null && this.#read(item, Math.min(upTo, item.seq), now) ? [item] : [];
      }),
    );
  }

  /** True when the item is not unread any more. */
  #read({ number, seq, readSeq, deletedSeq }: InboxItem, upTo: number, now: number): boolean {
    if (upTo <= readSeq) return false;
    this.tables.write("UPDATE items SET read_seq = ?, read_at = ? WHERE number = ?", upTo, now, number);
    return seq > deletedSeq && seq > readSeq && seq <= upTo;
  }

  /** Returns the items that have changed, or are not shown any more. */
  remove(removal: InboxRemoval, now: number): readonly ChangedItem[] {
    const { roomId, kind, subjectId, activityIds } = removal;
    return activityIds === undefined || kind === undefined || subjectId === undefined
      ? this.#removeSubjects(removal, now)
      : this.#removeActivities({ roomId, kind, subjectId }, activityIds, now);
  }

  #removeSubjects({ roomId, kind, subjectId }: InboxRemoval, now: number): readonly ChangedItem[] {
    return this.#change(() => {
      const where = "room_id = ? AND kind = ifnull(?, kind) AND subject_id = ifnull(?, subject_id)";
      const found = [roomId, kind ?? null, subjectId ?? null];
      const query = `SELECT id, room_id AS roomId FROM items WHERE identity_id = ? AND ${where} AND ${SHOWN}`;
      const shown = this.tables.read<ChangedItem>(query, this.identityId, ...found);
      this.#drop(where, found);
      if (subjectId !== undefined)
        for (const each of kind === undefined ? (["thread", "textMention"] as const) : [kind])
          this.#insert({ roomId, kind: each, subjectId }, now, FOREVER, FOREVER);
      return shown;
    });
  }

  /** Also activities that have yet to arrive. */
  #removeActivities(subject: Subject, ids: readonly string[], now: number): readonly ChangedItem[] {
    return this.#change(() => {
      const json = JSON.stringify(ids);
      const item = this.#find(subject);
      const query = `SELECT 1 FROM activities WHERE ${OF_ACTIVITIES} AND item = ? LIMIT 1`;
      const isShown = item !== null && this.tables.first(query, this.identityId, json, item.number) !== null;
      this.tables.write(
        `INSERT OR REPLACE INTO activities (identity_id, id, seq, at) SELECT ?, value, ${FOREVER}, ? FROM json_each(?)`,
        ...[this.identityId, now, json],
      );
      if (!isShown) return [];
      this.tables.write(
        `UPDATE items SET seq = ifnull(latest.seq, deleted_seq), notified_at = ifnull(latest.at, notified_at)
         FROM (SELECT max(seq) AS seq, max(at) AS at FROM activities WHERE item = ?1) AS latest WHERE number = ?1`,
        item.number,
      );
      return [item];
    });
  }

  /** Deletes items; later activities of their subjects show them again. Returns those that were shown. */
  deleteItems(ids: readonly string[]): readonly ChangedItem[] {
    return this.#change(() => {
      const json = JSON.stringify(ids);
      const where = `identity_id = ? AND id IN (SELECT value FROM json_each(?)) AND ${SHOWN}`;
      const shown = this.tables.read<InboxItem>(
        `SELECT ${COLUMNS} FROM items WHERE ${where}`,
        ...[this.identityId, json],
      );
      this.#forget(
        "SELECT id FROM activities WHERE item IN (SELECT value FROM json_each(?))",
        JSON.stringify(shown.map(({ number }) => number)),
      );
      this.tables.write(
        `UPDATE items SET deleted_seq = seq, read_seq = max(read_seq, seq) WHERE ${where}`,
        ...[this.identityId, json],
      );
      return shown;
    });
  }

  /** An item that is shown. */
  find(id: string): InboxItem | null {
    const query = `SELECT ${COLUMNS} FROM items WHERE id = ? AND identity_id = ? AND ${SHOWN}`;
    return this.tables.first(query, id, this.identityId);
  }

  /** The items with their activities, newest first. */
  present(items: readonly InboxItem[]): InboxNotification[] {
    const query =
      "SELECT id, seq, at, created_by AS by, data FROM activities WHERE item = ? ORDER BY seq DESC, id DESC";
    return items.map((item) =>
      presentNotification(item, this.tables.read<StoredActivity>(query, item.number)),
    );
  }

  /** Reads the items that fulfil the condition, without those that are too old. */
  #recent<Row extends object>(columns: string, condition: string, now: number, group = ""): Row[] {
    const query = `SELECT ${columns} FROM items WHERE identity_id = ? AND ${condition} AND notified_at > ? ${group}`;
    return this.tables.read(query, this.identityId, now - KEPT_MS);
  }

  /** The rooms of the items that are shown, or that are unread; an empty ID stands for none. */
  rooms(which: "shown" | "unread", now: number): string[] {
    const condition = which === "shown" ? SHOWN : UNREAD;
    return this.#recent<{ id: string }>("DISTINCT room_id AS id", condition, now).map(({ id }) => id);
  }

  /** The unread items by their rooms. */
  unreadByRoom(now: number): ReadonlyMap<string, number> {
    const columns = "room_id AS id, count(*) AS count";
    const rows = this.#recent<{ id: string; count: number }>(columns, UNREAD, now, "GROUP BY room_id");
    return new Map(rows.map(({ id, count }) => [id, count]));
  }

  /** The positions of the latest activities of the unread items. */
  unreadItems(now: number): readonly (ItemPosition & ChangedItem)[] {
    return this.#recent("id, room_id AS roomId, seq AS upTo", UNREAD, now);
  }

  /** The items of these rooms, or with null of any, the newest first. */
  list(
    { limit, after, unread, roomId, kind }: ItemsPage,
    rooms: readonly string[] | null,
    now: number,
  ): InboxItem[] {
    const conditions: [string, ...SqlStorageValue[]][] = [
      ["identity_id = ?", this.identityId],
      [SHOWN],
      ["notified_at > ?", now - KEPT_MS],
    ];
    if (rooms !== null)
      conditions.push(["room_id IN (SELECT value FROM json_each(?))", JSON.stringify(rooms)]);
    if (after !== null) conditions.push(["(notified_at, id) < (?, ?)", after.notifiedAt, after.id]);
    if (unread !== null) conditions.push([unread ? UNREAD : `NOT ${UNREAD}`]);
    if (roomId !== null) conditions.push(["room_id = ?", roomId]);
    if (kind !== null) conditions.push(["kind = ?", kind]);
    const where = conditions.map(([sql]) => sql).join(" AND ");
    return this.tables.read(
      `SELECT ${COLUMNS} FROM items WHERE ${where} ORDER BY notified_at DESC, id DESC LIMIT ?`,
      ...conditions.flatMap(([, ...params]) => params),
      limit,
    );
  }

  /** The IDs of the items that are shown, in these rooms or with null in any. */
  idsIn(rooms: readonly string[] | null): string[] {
    const query = `SELECT id FROM items WHERE identity_id = ?1 AND ${SHOWN}
      AND (?2 IS NULL OR room_id IN (SELECT value FROM json_each(?2)))`;
    return this.tables
      .read<{ id: string }>(query, this.identityId, rooms && JSON.stringify(rooms))
      .map(({ id }) => id);
  }
}
