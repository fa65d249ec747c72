/** Changes of one inbox: positions up to which items are read or deleted, and what a room has removed. */

import type { InboxPosition, InboxRemoval } from "@atrium/contract/resources/inbox.ts";
import { unusedNumber } from "@atrium/contract/time.ts";
import { type InboxStore, type ItemPosition, SHOWN, UNREAD } from "./inbox-store.ts";
import { COLUMNS, deleteItems, type InboxTables } from "./inbox-tables.ts";
import type { ChangedItem, InboxItem } from "./present.ts";

/** Items are counted behind one new item in `countedEvery`: those that are shown, and the positions of the others. */
export const LIMITS = { items: 10_000, countedEvery: 128 };

/** By the digits of its ID, which are random: neither the order nor the number of changes has a say in it. */
export const isCounted = (id: string, { countedEvery }: typeof LIMITS): boolean =>
  Number.parseInt(id.slice(0, 4), 16) % countedEvery === 0;

const OF_SUBJECT = "identity_id = ? AND room_id = ? AND kind = ? AND subject_id = ?";
const OF_ACTIVITIES = "identity_id = ? AND id IN (SELECT value FROM json_each(?))";

type Subject = Pick<InboxPosition, "roomId" | "kind" | "subjectId">;
const keyOf = ({ roomId, kind, subjectId }: Subject) => [roomId ?? "", kind, subjectId] as const;

export class InboxChanges {
  readonly #inbox: InboxStore;
  readonly #tables: InboxTables;
  readonly #newId: () => string;
  readonly #limits: typeof LIMITS;

  /** Tests keep fewer items. */
  constructor(inbox: InboxStore, newId: () => string, limits = LIMITS) {
    this.#inbox = inbox;
    this.#tables = inbox.tables;
    this.#newId = newId;
    this.#limits = limits;
  }

  /** Runs changes in one transaction, which count as one unless `work` returns nothing. Of a deleted identity nothing changes. */
  #change<T>(work: () => readonly T[]): readonly T[] {
    return this.#tables.transaction(() => {
      if (!this.#inbox.open()) return [];
      const changed = work();
      if (changed.length > 0)
        this.#tables.write("UPDATE inboxes SET seq = seq + 1 WHERE identity_id = ?", this.#inbox.identityId);
      return changed;
    });
  }

  #find(subject: Subject): InboxItem | null {
    const query = `SELECT ${COLUMNS} FROM items WHERE ${OF_SUBJECT}`;
    return this.#tables.first(query, this.#inbox.identityId, ...keyOf(subject));
  }

  /** Inserts a subject without activities, read and deleted up to these positions. */
  #insert(subject: Subject, at: number, readSeq: number, deletedSeq = 0): void {
    const id = this.#newId();
    this.#tables.write(
      `INSERT INTO items (id, identity_id, room_id, kind, subject_id, seq, read_seq, deleted_seq, notified_at, read_at)
       VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?)`,
      ...[id, this.#inbox.identityId, ...keyOf(subject), readSeq, deletedSeq, at, at],
    );
    if (isCounted(id, this.#limits)) this.makeRoom(id);
  }

  /** Makes room for items until the next count: the oldest go, those first that are read, and never the new one. */
  makeRoom(newest: string): void {
    const { items, countedEvery } = this.#limits;
    for (const kept of [SHOWN, `NOT ${SHOWN}`]) {
      const query = `SELECT count(*) AS count FROM items WHERE identity_id = ? AND ${kept}`;
      const count = this.#tables.first<{ count: number }>(query, this.#inbox.identityId)?.count ?? 0;
      const excess = Math.max(0, count - items + countedEvery - 1);
      this.#drop(`${kept} AND id <> ? ORDER BY ${UNREAD}, notified_at, id LIMIT ?`, [newest, excess]);
    }
  }

  /** Deletes the items of the inbox that fulfil the condition. */
  #drop(condition: string, params: readonly SqlStorageValue[]): void {
    const query = `SELECT number FROM items WHERE identity_id = ? AND ${condition}`;
    const found = this.#tables.read<{ number: number }>(query, this.#inbox.identityId, ...params);
    deleteItems(
      this.#tables,
      found.map(({ number }) => number),
    );
  }

  /** Keeps only the IDs of the activities that the query selects. */
  #forget(query: string, ...params: SqlStorageValue[]): void {
    this.#tables.write(
      `UPDATE activities SET item = NULL, created_by = NULL, data = NULL WHERE identity_id = ? AND id IN (${query})`,
      ...[this.#inbox.identityId, ...params],
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
        const item = this.#inbox.find(id);
        return item !== null && this.#read(item, Math.min(upTo, item.seq), now) ? [item] : [];
      }),
    );
  }

  /** True when the item is not unread any more. */
  #read({ number, seq, readSeq, deletedSeq }: InboxItem, upTo: number, now: number): boolean {
    if (upTo <= readSeq) return false;
    this.#tables.write("UPDATE items SET read_seq = ?, read_at = ? WHERE number = ?", upTo, now, number);
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
    const ended = unusedNumber(now); // a restored room may have the subject again, and goes on beyond
    return this.#change(() => {
      const where = "room_id = ? AND kind = ifnull(?, kind) AND subject_id = ifnull(?, subject_id)";
      const found = [roomId, kind ?? null, subjectId ?? null];
      const query = `SELECT id, room_id AS roomId FROM items WHERE identity_id = ? AND ${where} AND ${SHOWN}`;
      const shown = this.#tables.read<ChangedItem>(query, this.#inbox.identityId, ...found);
      this.#drop(where, found);
      if (subjectId !== undefined)
        for (const each of kind === undefined ? (["thread", "textMention"] as const) : [kind])
          this.#insert({ roomId, kind: each, subjectId }, now, ended, ended);
      return shown;
    });
  }

  /** Also activities that have yet to arrive. */
  #removeActivities(subject: Subject, ids: readonly string[], now: number): readonly ChangedItem[] {
    return this.#change(() => {
      const json = JSON.stringify(ids);
      const item = this.#find(subject);
      const query = `SELECT 1 FROM activities WHERE ${OF_ACTIVITIES} AND item = ? LIMIT 1`;
      const isShown =
        item !== null && this.#tables.first(query, this.#inbox.identityId, json, item.number) !== null;
      this.#tables.write(
        "INSERT OR REPLACE INTO activities (identity_id, id, seq, at) SELECT ?, value, ?, ? FROM json_each(?)",
        ...[this.#inbox.identityId, unusedNumber(now), now, json],
      );
      if (!isShown) return [];
      this.#tables.write(
        `UPDATE items SET seq = ifnull(latest.seq, deleted_seq), notified_at = ifnull(latest.at, notified_at)
         FROM (SELECT max(seq) AS seq, max(at) AS at FROM activities WHERE item = ?1) AS latest WHERE number = ?1`,
        item.number,
      );
      return [item];
    });
  }

  /** Deletes items up to positions; later activities of their subjects show them again. Returns those that have changed. */
  deleteItems(positions: readonly ItemPosition[]): readonly ChangedItem[] {
    return this.#change(() => {
      const changed = this.#tables.read<InboxItem & ItemPosition>(
        `SELECT ${COLUMNS}, upTo FROM (SELECT value ->> 'id' AS asked, value ->> 'upTo' AS upTo FROM json_each(?))
         CROSS JOIN items ON items.id = asked WHERE identity_id = ? AND ${SHOWN} AND deleted_seq < upTo`,
        ...[JSON.stringify(positions), this.#inbox.identityId],
      );
      const json = JSON.stringify(changed);
      this.#forget(
        `SELECT activities.id FROM json_each(?) AS given CROSS JOIN activities
         ON item = given.value ->> 'number' AND activities.seq <= given.value ->> 'upTo'`,
        json,
      );
      this.#tables.write(
        `UPDATE items SET deleted_seq = given.value ->> 'upTo', read_seq = max(read_seq, given.value ->> 'upTo')
         FROM json_each(?) AS given WHERE number = given.value ->> 'number'`,
        json,
      );
      return changed;
    });
  }
}
