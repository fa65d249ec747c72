/** Removes what was deleted in a room from all inboxes of a shard: the room does not know any more who had it. */

import type { InboxActivity, InboxRemoval } from "@atrium/contract/resources/inbox.ts";
import { ActivityStore } from "./activity-store.ts";
import type { InboxTables } from "./inbox-tables.ts";
import type { ChangedItem } from "./present.ts";

/** Items that one transaction deletes; the alarm goes on. */
const REMOVED_AT_ONCE = 500;

interface FoundItem extends ChangedItem {
  readonly number: number;
  readonly identityId: string;
  readonly isShown: number;
}

/** The items that have changed, or are not shown any more, by their identities. */
export type RemovedItems = ReadonlyMap<string, readonly ChangedItem[]>;

const FOUND = "number, items.id, room_id AS roomId, identity_id AS identityId, seq > deleted_seq AS isShown";

export class InboxRemovals {
  readonly #tables: InboxTables;

  constructor(tables: InboxTables) {
    this.#tables = tables;
  }

  /** Activities of it that arrive later have no effect. A shard that has never been used stays empty without a room. */
  remove({ roomId, kind, subjectId, activityIds }: InboxRemoval, now: number): RemovedItems {
    if (kind === undefined && !this.#tables.exists) return new Map();
    const subject = [roomId, kind ?? "", subjectId ?? ""] as const;
    return this.#tables.transaction(() => {
      this.#tables.create();
      this.#tables.write(
        `INSERT OR REPLACE INTO removals (room_id, kind, subject_id, activity_id, at)
         SELECT ?, ?, ?, value, ? FROM json_each(?)`,
        ...[...subject, now, JSON.stringify(activityIds ?? [""])],
      );
      return activityIds === undefined
        ? this.#removeSome(subject, now)
        : this.#removeActivities(subject, activityIds, now);
    });
  }

  /** Goes on with removals of many items. */
  continue(now: number): RemovedItems {
    const query = `SELECT room_id AS roomId, kind, subject_id AS subjectId FROM removals
      WHERE due <= ? ORDER BY due LIMIT 1`;
    const removal = this.#tables.first<{ roomId: string; kind: string; subjectId: string }>(query, now);
    if (removal === null) return new Map();
    const { roomId, kind, subjectId } = removal;
    return this.#tables.transaction(() => this.#removeSome([roomId, kind, subjectId], now));
  }

  #removeSome(
    subject: readonly [roomId: string, kind: string, subjectId: string],
    now: number,
  ): RemovedItems {
    const [roomId, kind, subjectId] = subject;
    const found = this.#tables.read<FoundItem>(
      `SELECT ${FOUND} FROM items WHERE room_id = ? ${kind === "" ? "" : "AND kind = ? AND subject_id = ?"} LIMIT ?`,
      ...[...(kind === "" ? [roomId] : [roomId, kind, subjectId]), REMOVED_AT_ONCE],
    );
    new ActivityStore(this.#tables).deleteItems(found.map(({ number }) => number));
    const isMore = found.length === REMOVED_AT_ONCE;
    this.#tables.write(
      "UPDATE removals SET due = ? WHERE room_id = ? AND kind = ? AND subject_id = ? AND activity_id = ''",
      ...[isMore ? now : null, ...subject],
    );
    return this.#changed(found);
  }

  #removeActivities(subject: readonly string[], ids: readonly string[], now: number): RemovedItems {
    const found = this.#tables.read<FoundItem>(
      `SELECT ${FOUND} FROM items WHERE room_id = ? AND kind = ? AND subject_id = ? AND EXISTS (
         SELECT 1 FROM json_each(activities) WHERE value ->> 'id' IN (SELECT value FROM json_each(?)))`,
      ...[...subject, JSON.stringify(ids)],
    );
    const numbers = found.map(({ number }) => number);
    new ActivityStore(this.#tables).remove(numbers, ids, now);
    return this.#changed(found);
  }

  #changed(found: readonly FoundItem[]): RemovedItems {
    const shown = found.filter(({ isShown }) => isShown === 1);
    const changed = Map.groupBy(shown, ({ identityId }) => identityId);
    this.#tables.write(
      "UPDATE inboxes SET seq = seq + 1 WHERE identity_id IN (SELECT value FROM json_each(?))",
      JSON.stringify([...changed.keys()]),
    );
    return changed;
  }

  /** Whether an activity, its subject or its room was deleted. */
  has({ id, roomId, kind, subjectId }: InboxActivity): boolean {
    if (roomId === null) return false;
    const removed = "SELECT 1 FROM removals WHERE room_id = ?1 AND";
    const query = `${removed} kind = '' AND subject_id = '' AND activity_id = ''
      UNION ALL ${removed} kind = ?2 AND subject_id = ?3 AND activity_id IN ('', ?4) LIMIT 1`;
    return this.#tables.first(query, roomId, kind, subjectId, id) !== null;
  }
}
