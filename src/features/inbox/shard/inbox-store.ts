/** The items of one inbox in the database of its shard, as they are read. */

import type { InboxNotification } from "@atrium/contract/rest/inbox.ts";
import { parseActivities } from "./activity-store.ts";
import {
  COLUMNS,
  DUE_COLUMNS,
  type DueTimes,
  earliest,
  FIRST_SEQ,
  type InboxTables,
  KEPT_MS,
  numberOf,
} from "./inbox-tables.ts";
import { type ChangedItem, type InboxItem, presentNotification } from "./present.ts";

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
/** As the index has it. */
export const UNREAD = "(seq > read_seq) = 1";
const READ = "(seq > read_seq) = 0";
const EITHER = "(seq > read_seq) IN (0, 1)";

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

  /** When the first of the items that wait is due (epoch ms), by channel; null without any. */
  get waitingUntil(): DueTimes {
    const { email, webPush } = DUE_COLUMNS;
    const query = `SELECT min(${email}) AS email, min(${webPush}) AS webPush FROM items
      WHERE identity_id = ? AND ${UNREAD}`;
    return this.tables.first(query, this.identityId) ?? { email: null, webPush: null };
  }

  /** Plans for the first of the items and sendings that is due now. Counts a change if there was one. */
  plan(isChanged: boolean): void {
    const planned = this.#row<{ due: number | null }>("due")?.due ?? null;
    const due = planned === null ? null : this.#firstDue;
    const changes = [...(isChanged ? ["seq = seq + 1"] : []), ...(due === planned ? [] : ["due = ?2"])];
    if (changes.length === 0) return;
    const query = `UPDATE inboxes SET ${changes.join()} WHERE identity_id = ?1`;
    this.tables.write(query, this.identityId, ...(due === planned ? [] : [due]));
  }

  get #firstDue(): number | null {
    const { email, webPush } = this.waitingUntil;
    const query = "SELECT min(due) AS due FROM sendings WHERE identity_id = ?";
    const sending = this.tables.first<{ due: number | null }>(query, this.identityId)?.due ?? null;
    return earliest([email, webPush, sending]);
  }

  /** An item that is shown. */
  find(id: string): InboxItem | null {
    const query = `SELECT ${COLUMNS} FROM items WHERE number = ? AND id = ? AND identity_id = ? AND ${SHOWN}`;
    return this.tables.first(query, numberOf(id), id, this.identityId);
  }

  /** Whether an item that is shown has unread activities up to a seq: those after it have been notified of on their own. */
  hasUnread({ id, upTo }: ItemPosition): boolean {
    const query = `SELECT 1 FROM items CROSS JOIN json_each(activities) AS activity
      WHERE number = ? AND items.id = ? AND identity_id = ?
        AND activity.value ->> 'seq' > read_seq AND activity.value ->> 'seq' <= ? LIMIT 1`;
    return this.tables.first(query, numberOf(id), id, this.identityId, upTo) !== null;
  }

  /** The items with their activities, newest first. */
  present(items: readonly InboxItem[]): InboxNotification[] {
    const query = "SELECT activities FROM items WHERE number = ?";
    return items.map((item) => {
      const row = this.tables.first<{ activities: string }>(query, item.number);
      return presentNotification(item, parseActivities(row?.activities ?? "[]"));
    });
  }

  /** Reads the items that fulfil the condition, without those that are too old. */
  #recent<Row extends object>(columns: string, condition: string, now: number, group = ""): Row[] {
    const query = `SELECT ${columns} FROM items WHERE identity_id = ? AND ${condition} AND notified_at > ? ${group}`;
    return this.tables.read(query, this.identityId, now - KEPT_MS);
  }

  /** The rooms of the items that are shown; an empty ID stands for none. */
  rooms(now: number): string[] {
    return this.#recent<{ id: string }>("DISTINCT room_id AS id", `${EITHER} AND ${SHOWN}`, now).map(
      ({ id }) => id,
    );
  }

  hasItemsIn(roomId: string): boolean {
    // The plus keeps SQLite from the index of subjects, which has the items of all identities.
    const query = `SELECT 1 FROM items WHERE identity_id = ? AND +room_id = ? AND ${SHOWN} LIMIT 1`;
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
    if (roomId !== undefined) conditions.push(["room_id = ?", roomId]);
    if (kind !== undefined) conditions.push(["kind = ?", kind]);
    const where = conditions.map(([sql]) => sql).join(" AND ");
    const params = conditions.flatMap(([, ...values]) => values);
    // Each part is in the order of the index.
    const parts = unread === undefined ? [UNREAD, READ] : [unread ? UNREAD : READ];
    const selected = parts.map((part) => `SELECT ${COLUMNS} FROM items WHERE ${where} AND ${part}`);
    return this.tables.read(
      `${selected.join(" UNION ALL ")} ORDER BY notifiedAt DESC, id DESC LIMIT ?`,
      ...parts.flatMap(() => params),
      limit,
    );
  }

  /** The positions of the latest activities of all items that are shown. */
  shownItems(): readonly (ItemPosition & ChangedItem)[] {
    const query = `SELECT id, room_id AS roomId, seq AS upTo FROM items WHERE identity_id = ? AND ${SHOWN}`;
    return this.tables.read(query, this.identityId);
  }
}
