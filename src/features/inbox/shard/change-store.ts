/** Changes of one inbox: positions up to which items are read or deleted, and what a room has removed. */

import type { InboxPosition, InboxRemoval } from "@atrium/contract/resources/inbox.ts";
import { unusedNumber } from "@atrium/contract/time.ts";
import { ActivityStore } from "./activity-store.ts";
import { type InboxStore, type ItemPosition, SHOWN, UNREAD } from "./inbox-store.ts";
import { COLUMNS, type InboxTables, numberOf } from "./inbox-tables.ts";
import type { ChangedItem, InboxItem } from "./present.ts";

/** Items are counted behind one new item in `countedEvery`: those that are shown, and the positions of the others. */
export const LIMITS = { items: 10_000, countedEvery: 128 };

/** By the digits of its ID, which are random: neither the order nor the number of changes has a say in it. */
export const isCounted = (id: string, { countedEvery }: typeof LIMITS): boolean =>
  Number.parseInt(id.slice(0, 4), 16) % countedEvery === 0;

const OF_SUBJECT = "identity_id = ? AND room_id = ? AND kind = ? AND subject_id = ?";

type Subject = Pick<InboxPosition, "roomId" | "kind" | "subjectId">;
const keyOf = ({ roomId, kind, subjectId }: Subject) => [roomId ?? "", kind, subjectId] as const;

export class InboxChanges {
  readonly #inbox: InboxStore;
  readonly #tables: InboxTables;
  readonly #activities: ActivityStore;
  readonly #newId: () => string;
  readonly #limits: typeof LIMITS;

  /** Tests keep fewer items. */
  constructor(inbox: InboxStore, newId: () => string, limits = LIMITS) {
    this.#inbox = inbox;
    this.#tables = inbox.tables;
    this.#activities = new ActivityStore(inbox.tables);
    this.#newId = newId;
    this.#limits = limits;
  }

  /** Runs changes in one transaction, which count as one unless `work` returns nothing. Of a deleted identity nothing changes. */
  #change<T>(work: () => readonly T[]): readonly T[] {
    return this.#tables.transaction(() => {
      if (!this.#inbox.open()) return [];
      const changed = work();
      if (changed.length > 0) this.#inbox.plan(true);
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
      `INSERT INTO items (number, id, identity_id, room_id, kind, subject_id, seq, read_seq, deleted_seq, notified_at, read_at)
       VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?)`,
      ...[numberOf(id), id, this.#inbox.identityId, ...keyOf(subject), readSeq, deletedSeq, at, at],
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
    this.#activities.deleteItems(found.map(({ number }) => number));
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
      const given = Object.entries({ room_id: roomId, kind, subject_id: subjectId }).flatMap(
        ([column, value]) => (value === undefined ? [] : [[column, value] as const]),
      );
      const where = given.map(([column]) => `${column} = ?`).join(" AND ");
      const found = given.map(([, value]) => value);
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
      const { identityId } = this.#inbox;
      const item = this.#find(subject);
      const query = `SELECT 1 FROM items CROSS JOIN json_each(activities) AS activity
        WHERE number = ? AND activity.value ->> 'id' IN (SELECT value FROM json_each(?)) LIMIT 1`;
      const isShown = item !== null && this.#tables.first(query, item.number, JSON.stringify(ids)) !== null;
      const seq = unusedNumber(now);
      this.#activities.forget(ids.map((id) => ({ identityId, id, seq, at: now, isMention: false })));
      if (!isShown) return [];
      this.#activities.remove([item.number], ids, now);
      return [item];
    });
  }

  /** Deletes items up to positions; later activities of their subjects show them again. Returns those that have changed. */
  deleteItems(positions: readonly ItemPosition[]): readonly ChangedItem[] {
    return this.#change(() => {
      const asked = positions.map(({ id, upTo }) => ({ number: numberOf(id), id, upTo }));
      const changed = this.#tables.read<InboxItem & ItemPosition>(
        `SELECT ${COLUMNS}, upTo FROM (
           SELECT value ->> 'number' AS given, value ->> 'id' AS asked, value ->> 'upTo' AS upTo FROM json_each(?))
         CROSS JOIN items ON number = given AND items.id = asked WHERE identity_id = ? AND ${SHOWN} AND deleted_seq < upTo`,
        ...[JSON.stringify(asked), this.#inbox.identityId],
      );
      this.#activities.deleteUpTo(changed);
      return changed;
    });
  }
}
