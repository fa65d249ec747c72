/** The items of one inbox in the database of its shard, as they are read. */

import type { InboxNotification } from "@atrium/contract/rest/inbox.ts";
import { COLUMNS, FIRST_SEQ, type InboxTables, KEPT_MS } from "./inbox-tables.ts";
import { type ChangedItem, type InboxItem, presentNotification, type StoredActivity } from "./present.ts";

/** An item is read up to a seq. */
export interface ItemPosition {
  readonly id: string;
  readonly upTo: number;
}

/** A page of the items that match all filters which are given. */
export interface ItemsPage {
  readonly unread?: boolean | undefined;
  readonly roomId?: string | undefined;
  readonly kind?: string | undefined;
  readonly limit: number;
  readonly after: { readonly notifiedAt: number; readonly id: string } | null;
}

export const SHOWN = "seq > deleted_seq";
export const UNREAD = "seq > read_seq";

export class InboxStore {
  readonly tables: InboxTables;
  readonly identityId: string;

  constructor(tables: InboxTables, identityId: string) {
    this.tables = tables;
    this.identityId = identityId;
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
    this.tables.write(
      `INSERT OR IGNORE INTO inboxes (identity_id, seq) VALUES (?, ${FIRST_SEQ})`,
      this.identityId,
    );
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

  /** An item that is shown. */
  find(id: string): InboxItem | null {
    const query = `SELECT ${COLUMNS} FROM items WHERE id = ? AND identity_id = ? AND ${SHOWN}`;
    return this.tables.first(query, id, this.identityId);
  }

  /** Whether an item that is shown has unread activities up to a seq: those after it have been notified of on their own. */
  hasUnread({ id, upTo }: ItemPosition): boolean {
    const query = `SELECT 1 FROM items CROSS JOIN activities ON item = number
      WHERE items.id = ? AND items.identity_id = ? AND activities.seq > read_seq AND activities.seq <= ? LIMIT 1`;
    return this.tables.first(query, id, this.identityId, upTo) !== null;
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
    // The plus keeps SQLite from the index of times: that of what is unread is shorter.
    const query = `SELECT ${columns} FROM items WHERE identity_id = ? AND ${condition} AND +notified_at > ? ${group}`;
    return this.tables.read(query, this.identityId, now - KEPT_MS);
  }

  /** The rooms of the items that are shown; an empty ID stands for none. */
  rooms(now: number): string[] {
    return this.#recent<{ id: string }>("DISTINCT room_id AS id", SHOWN, now).map(({ id }) => id);
  }

  hasItemsIn(roomId: string): boolean {
    const query = `SELECT 1 FROM items WHERE identity_id = ? AND room_id = ? AND ${SHOWN} LIMIT 1`;
    return this.tables.first(query, this.identityId, roomId) !== null;
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

  /** The items but for those of hidden rooms, the newest first. */
  list(
    { limit, after, unread, roomId, kind }: ItemsPage,
    hiddenRooms: readonly string[],
    now: number,
  ): InboxItem[] {
    const conditions: [string, ...SqlStorageValue[]][] = [
      ["identity_id = ?", this.identityId],
      [SHOWN],
      ["notified_at > ?", now - KEPT_MS],
    ];
    if (hiddenRooms.length > 0)
      conditions.push(["room_id NOT IN (SELECT value FROM json_each(?))", JSON.stringify(hiddenRooms)]);
    if (after !== null) conditions.push(["(notified_at, id) < (?, ?)", after.notifiedAt, after.id]);
    if (unread !== undefined) conditions.push([unread ? UNREAD : `NOT ${UNREAD}`]);
    if (roomId !== undefined) conditions.push(["room_id = ?", roomId]);
    if (kind !== undefined) conditions.push(["kind = ?", kind]);
    const where = conditions.map(([sql]) => sql).join(" AND ");
    return this.tables.read(
      `SELECT ${COLUMNS} FROM items WHERE ${where} ORDER BY notified_at DESC, id DESC LIMIT ?`,
      ...conditions.flatMap(([, ...params]) => params),
      limit,
    );
  }

  /** The positions of the latest activities of all items that are shown. */
  shownItems(): readonly (ItemPosition & ChangedItem)[] {
    const query = `SELECT id, room_id AS roomId, seq AS upTo FROM items WHERE identity_id = ? AND ${SHOWN}`;
    return this.tables.read(query, this.identityId);
  }
}
