/** The SQLite database of an inbox. Empty until the first activity. */
import { ObjectTables } from "../../platform/objects/object-tables.ts";
import { DAY_MS } from "../../platform/time.ts";
import type { InboxActivity, InboxPosition, InboxRemoval } from "../../wire/inbox.ts";
import { COLUMNS, SCHEMA } from "./inbox-tables.ts";
import { PushTargets } from "./push-store.ts";
import type { ChangedItem, InboxItem, StoredActivity } from "./schema.ts";

/** Items are counted once in `countedEvery` new ones. */
const LIMITS = { items: 10_000, countedEvery: 128 };
const KEPT_MS = 90 * DAY_MS;
const MAX_ACTIVITIES = 50;
/** Rows that one alarm deletes of each table. */
const PRUNED_AT_ONCE = 1_000;
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
const OF_SUBJECT = "room_id = ? AND kind = ? AND subject_id = ?";
const IN_ROOMS = "room_id IN (SELECT value FROM json_each(?))";

type Subject = Pick<InboxPosition, "roomId" | "kind" | "subjectId">;
const keyOf = ({ roomId, kind, subjectId }: Subject) => [roomId ?? "", kind, subjectId] as const;

export class InboxStore extends ObjectTables {
  readonly #storage: DurableObjectStorage;
  readonly #newId: () => string;
  readonly #limits: typeof LIMITS;

  /** Tests keep fewer items. */
  constructor(storage: DurableObjectStorage, newId: () => string, limits = LIMITS) {
    super(storage, SCHEMA);
    this.#storage = storage;
    this.#newId = newId;
    this.#limits = limits;
  }

  fact(name: string): string | null {
    return this.first<{ value: string }>("SELECT value FROM facts WHERE name = ?", name)?.value ?? null;
  }

  setFact(name: string, value: string): void {
    this.create();
    this.write("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, value);
  }

  /** Counts the changes of the inbox. */
  get seq(): number {
    return Number(this.fact("seq") ?? 0);
  }

  /** Runs changes in one transaction, which count as one unless `work` returns nothing. */
  #change<T>(work: () => readonly T[]): readonly T[] {
    return this.transaction(() => {
      this.create();
      const changed = work();
      if (changed.length > 0) this.setFact("seq", String(this.seq + 1));
      return changed;
    });
  }

  /** Takes activities at `now` (epoch ms). Returns the items that have changed. */
  deliver(activities: readonly InboxActivity[], now: number): readonly ChangedItem[] {
    return this.#change(() => {
      const changed = new Map<string, ChangedItem>();
      for (const activity of activities) {
        const id = this.#take(activity, now);
        if (id !== null) changed.set(id, { id, roomId: activity.roomId ?? "" });
      }
      return [...changed.values()];
    });
  }

  /** Returns the ID of the item that the activity has changed. */
  #take(activity: InboxActivity, now: number): string | null {
    const { id, at, by, data } = activity;
    if (at <= now - KEPT_MS) return null;
    const known = this.first<{ seq: number }>("SELECT seq FROM activities WHERE id = ?", id);
    if (known !== null && (activity.seq ?? 0) <= known.seq) return null;
    const item = this.#find(activity);
    const seq = activity.seq ?? (item?.seq ?? 0) + 1;
    const insert = "INSERT OR REPLACE INTO activities VALUES (?, ?, ?, ?, ?, ?)";
    if (item !== null && seq <= item.deletedSeq) {
      this.write(insert, id, null, seq, at, null, null);
      return null;
    }
    const { number, id: itemId } = item ?? this.#insert(activity, at);
    this.write(insert, id, number, seq, at, by, JSON.stringify(data));
    this.write(
      `UPDATE items SET seq = max(seq, ?), notified_at = max(iif(${SHOWN}, notified_at, 0), ?) WHERE number = ?`,
      ...[seq, at, number],
    );
    if (item === null) return itemId;
    this.#forget(
      "SELECT id FROM activities WHERE item = ? ORDER BY seq DESC, id DESC LIMIT -1 OFFSET ?",
      number,
      MAX_ACTIVITIES,
    );
    return itemId;
  }

  #find(subject: Subject): InboxItem | null {
    return this.first(`SELECT ${COLUMNS} FROM items WHERE ${OF_SUBJECT}`, ...keyOf(subject));
  }

  /** Inserts a subject without activities, read and deleted up to these positions. */
  #insert(subject: Subject, at: number, readSeq = 0, deletedSeq = 0): Pick<InboxItem, "number" | "id"> {
    const id = this.#newId();
    const [row] = this.read<{ number: number }>(
      `INSERT INTO items (id, room_id, kind, subject_id, seq, read_seq, deleted_seq, notified_at, read_at)
       VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?) RETURNING number`,
      ...[id, ...keyOf(subject), readSeq, deletedSeq, at, readSeq > 0 ? at : null],
    );
    const number = row?.number ?? 0;
    if (number % this.#limits.countedEvery === 0) this.#makeRoom(number);
    return { number, id };
  }

  /** Makes room for items until the next count: the oldest go, those first that are read, and never the new one. */
  #makeRoom(newest: number): void {
    const { items, countedEvery } = this.#limits;
    const count = this.first<{ count: number }>("SELECT count(*) AS count FROM items")?.count ?? 0;
    this.#drop(
      `SELECT number FROM items WHERE number <> ? ORDER BY ${UNREAD}, notified_at, id LIMIT ?`,
      newest,
      Math.max(0, count - items + countedEvery - 1),
    );
  }

  /** Deletes the rows of items whose numbers the query selects. */
  #drop(query: string, ...params: SqlStorageValue[]): number {
    const numbers = this.read<{ number: number }>(query, ...params).map(({ number }) => number);
    if (numbers.length === 0) return 0;
    const json = JSON.stringify(numbers);
    this.#forget("SELECT id FROM activities WHERE item IN (SELECT value FROM json_each(?))", json);
    this.write("DELETE FROM items WHERE number IN (SELECT value FROM json_each(?))", json);
    return numbers.length;
  }

  /** Keeps only the IDs of the activities that the query selects. */
  #forget(query: string, ...params: SqlStorageValue[]): void {
    this.write(
      `UPDATE activities SET item = NULL, created_by = NULL, data = NULL WHERE id IN (${query})`,
      ...params,
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
    this.write("UPDATE items SET read_seq = ?, read_at = ? WHERE number = ?", upTo, now, number);
    return seq > deletedSeq && seq > readSeq && seq <= upTo;
  }

  /** Returns the items that are not shown any more. */
  remove({ roomId, kind, subjectId }: InboxRemoval, now: number): readonly ChangedItem[] {
    return this.#change(() => {
      const where = "room_id = ?1 AND (?2 IS NULL OR kind = ?2) AND (?3 IS NULL OR subject_id = ?3)";
      const found = [roomId, kind ?? null, subjectId ?? null];
      const query = `SELECT id, room_id AS roomId FROM items WHERE ${where} AND ${SHOWN}`;
      const shown = this.read<ChangedItem>(query, ...found);
      this.#drop(`SELECT number FROM items WHERE ${where}`, ...found);
      if (subjectId !== undefined)
        for (const each of kind === undefined ? (["thread", "textMention"] as const) : [kind])
          this.#insert({ roomId, kind: each, subjectId }, now, FOREVER, FOREVER);
      return shown;
    });
  }

  /** Removes activities of a subject, also those that have yet to arrive. Returns the item if it has changed. */
  removeActivities(subject: Subject, ids: readonly string[], now: number): readonly ChangedItem[] {
    return this.#change(() => {
      const json = JSON.stringify(ids);
      const item = this.#find(subject);
      const query =
        "SELECT 1 FROM activities WHERE item = ? AND id IN (SELECT value FROM json_each(?)) LIMIT 1";
      const isShown = item !== null && this.first(query, item.number, json) !== null;
      this.write(
        `INSERT OR REPLACE INTO activities SELECT value, NULL, ${FOREVER}, ?, NULL, NULL FROM json_each(?)`,
        now,
        json,
      );
      if (!isShown) return [];
      this.write(
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
      const where = `id IN (SELECT value FROM json_each(?)) AND ${SHOWN}`;
      const shown = this.read<InboxItem>(`SELECT ${COLUMNS} FROM items WHERE ${where}`, json);
      this.#forget(
        "SELECT id FROM activities WHERE item IN (SELECT value FROM json_each(?))",
        JSON.stringify(shown.map(({ number }) => number)),
      );
      this.write(`UPDATE items SET deleted_seq = seq, read_seq = max(read_seq, seq) WHERE ${where}`, json);
      return shown;
    });
  }

  /** An item that is shown. */
  find(id: string): InboxItem | null {
    return this.first(`SELECT ${COLUMNS} FROM items WHERE id = ? AND ${SHOWN}`, id);
  }

  /** The latest activities of an item, newest first. */
  activitiesOf({ number }: InboxItem): StoredActivity[] {
    return this.read(
      "SELECT id, seq, at, created_by AS by, data FROM activities WHERE item = ? ORDER BY seq DESC, id DESC",
      number,
    );
  }

  /** The rooms of the items that are shown, or that are unread; an empty ID stands for none. */
  rooms(which: "shown" | "unread", now: number): string[] {
    const condition = which === "shown" ? SHOWN : UNREAD;
    const query = `SELECT DISTINCT room_id AS id FROM items WHERE ${condition} AND notified_at > ?`;
    return this.read<{ id: string }>(query, now - KEPT_MS).map(({ id }) => id);
  }

  /** The unread items by their rooms. */
  unreadByRoom(now: number): ReadonlyMap<string, number> {
    const rows = this.read<{ id: string; count: number }>(
      `SELECT room_id AS id, count(*) AS count FROM items WHERE ${UNREAD} AND notified_at > ? GROUP BY room_id`,
      now - KEPT_MS,
    );
    return new Map(rows.map(({ id, count }) => [id, count]));
  }

  /** The positions of the latest activities of the unread items. */
  unreadItems(now: number): readonly (ItemPosition & ChangedItem)[] {
    return this.read(
      `SELECT id, room_id AS roomId, seq AS upTo FROM items WHERE ${UNREAD} AND notified_at > ?`,
      now - KEPT_MS,
    );
  }

  /** The items of these rooms, or with null of any, the newest first. */
  list(
    { limit, after, unread, roomId, kind }: ItemsPage,
    rooms: readonly string[] | null,
    now: number,
  ): InboxItem[] {
    const conditions: [string, ...SqlStorageValue[]][] = [[SHOWN], ["notified_at > ?", now - KEPT_MS]];
    if (rooms !== null) conditions.push([IN_ROOMS, JSON.stringify(rooms)]);
    if (after !== null) conditions.push(["(notified_at, id) < (?, ?)", after.notifiedAt, after.id]);
    if (unread !== null) conditions.push([unread ? UNREAD : `NOT ${UNREAD}`]);
    if (roomId !== null) conditions.push(["room_id = ?", roomId]);
    if (kind !== null) conditions.push(["kind = ?", kind]);
    const where = conditions.map(([sql]) => sql).join(" AND ");
    return this.read(
      `SELECT ${COLUMNS} FROM items WHERE ${where} ORDER BY notified_at DESC, id DESC LIMIT ?`,
      ...conditions.flatMap(([, ...params]) => params),
      limit,
    );
  }

  /** The IDs of the items that are shown, in these rooms or with null in any. */
  idsIn(rooms: readonly string[] | null): string[] {
    const query = `SELECT id FROM items WHERE ${SHOWN} AND (?1 IS NULL OR room_id IN (SELECT value FROM json_each(?1)))`;
    return this.read<{ id: string }>(query, rooms && JSON.stringify(rooms)).map(({ id }) => id);
  }

  /** Deletes some of what is too old. True while there is more of it. */
  prune(now: number): boolean {
    return this.transaction(() => {
      const cut = now - KEPT_MS;
      const items = this.#drop(
        "SELECT number FROM items WHERE notified_at <= ? ORDER BY notified_at LIMIT ?",
        cut,
        PRUNED_AT_ONCE,
      );
      const marks = this.read(
        `DELETE FROM activities WHERE id IN (
           SELECT id FROM activities WHERE item IS NULL AND at <= ? ORDER BY at LIMIT ?) RETURNING 1`,
        ...[cut, PRUNED_AT_ONCE],
      ).length;
      return Math.max(items, marks) === PRUNED_AT_ONCE;
    });
  }

  get isEmpty(): boolean {
    return this.first("SELECT 1 FROM items UNION ALL SELECT 1 FROM activities LIMIT 1") === null;
  }

  /** Whether something is kept that does not become too old. */
  get hasSettings(): boolean {
    return this.fact("settings") !== null || new PushTargets(this).exist;
  }

  /** Deletes the whole storage, the alarm included. */
  async clear(): Promise<void> {
    this.forgetTables();
    await this.#storage.deleteAlarm();
    await this.#storage.deleteAll();
  }
}
