/** Delivers activities to inboxes of a shard, all at once: a statement for each inbox would take ten times as long. */
import type { InboxActivity } from "../../wire/inbox.ts";
import {
  ALL_WANTED,
  CHANNELS,
  isWanted,
  type NotificationDefaults,
  type NotificationSettings,
} from "../../wire/notification-settings.ts";
import { InboxStore, LIMITS } from "./inbox-store.ts";
import { type InboxTables, KEPT_MS } from "./inbox-tables.ts";
import type { ChangedItem } from "./schema.ts";

interface Delivery {
  readonly identityIds: readonly string[];
  readonly activities: readonly InboxActivity[];
  readonly defaults: NotificationDefaults;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** An inbox that does not know the activity yet, or at a lower seq only, and its item of the subject. */
interface Found {
  readonly identityId: string;
  /** Null without an item. */
  readonly itemId: string | null;
  /** Of the activity in this inbox. */
  readonly seq: number;
  /** 1 when the subject was deleted up to a later seq. */
  readonly isHidden: 0 | 1;
}

interface Taken extends Found {
  readonly itemId: string;
  readonly isNew: boolean;
}

const MAX_ACTIVITIES = 50;
const LISTED = "(SELECT value FROM json_each(?))";

export class InboxDeliveries {
  readonly #tables: InboxTables;
  readonly #newId: () => string;
  readonly #limits: typeof LIMITS;

  /** Tests keep fewer items. */
  constructor(tables: InboxTables, newId: () => string, limits = LIMITS) {
    this.#tables = tables;
    this.#newId = newId;
    this.#limits = limits;
  }

  /** Returns the items that have changed by their identities. They wait for the channels that are to carry them. */
  deliver({
    identityIds,
    activities,
    defaults,
    now,
  }: Delivery): ReadonlyMap<string, ReadonlyMap<string, ChangedItem>> {
    return this.#tables.transaction(() => {
      this.#tables.create();
      const ids = JSON.stringify([...new Set(identityIds)]);
      this.#tables.write(`INSERT OR IGNORE INTO inboxes (identity_id) SELECT * FROM ${LISTED}`, ids);
      const changed = new Map<string, Map<string, ChangedItem>>();
      for (const activity of activities.filter(({ at }) => at > now - KEPT_MS)) {
        const shown = this.#take(activity, ids);
        this.#queue(activity, shown, defaults, now);
        for (const { identityId, itemId: id } of shown) {
          const items = changed.get(identityId) ?? new Map<string, ChangedItem>();
          changed.set(identityId, items.set(id, { id, roomId: activity.roomId ?? "" }));
        }
      }
      this.#tables.write(
        `UPDATE inboxes SET seq = seq + 1 WHERE identity_id IN ${LISTED}`,
        JSON.stringify([...changed.keys()]),
      );
      return changed;
    });
  }

  /** Returns the items that show the activity. */
  #take(activity: InboxActivity, identityIds: string): Taken[] {
    const { id, at, by, data, kind, subjectId, seq } = activity;
    const subject = [activity.roomId ?? "", kind, subjectId];
    const found = this.#tables.read<Found>(
      `SELECT identityId, itemId, seq, seq <= deletedSeq AS isHidden FROM (
         SELECT inboxes.identity_id AS identityId, items.id AS itemId, items.deleted_seq AS deletedSeq,
           ifnull(?1, ifnull(items.seq, 0) + 1) AS seq
         FROM json_each(?2) AS asked
         CROSS JOIN inboxes ON inboxes.identity_id = asked.value AND inboxes.removed_at IS NULL
         LEFT JOIN items ON items.identity_id = inboxes.identity_id
           AND items.room_id = ?3 AND items.kind = ?4 AND items.subject_id = ?5
         LEFT JOIN activities AS known ON known.identity_id = inboxes.identity_id AND known.id = ?6
         WHERE known.id IS NULL OR known.seq < ifnull(?1, 0))`,
      ...[seq, identityIds, ...subject, id],
    );
    const taken = found.map(
      (each): Taken => ({ ...each, itemId: each.itemId ?? this.#newId(), isNew: each.itemId === null }),
    );
    const json = JSON.stringify(taken);
    this.#tables.write(
      `INSERT INTO items (id, identity_id, room_id, kind, subject_id, seq, read_seq, deleted_seq, notified_at)
       SELECT value ->> 'itemId', value ->> 'identityId', ?, ?, ?, value ->> 'seq', 0, 0, ?
       FROM json_each(?) WHERE value ->> 'isNew'`,
      ...[...subject, at, json],
    );
    this.#tables.write(
      `INSERT OR REPLACE INTO activities (identity_id, id, item, seq, at, created_by, data)
       SELECT items.identity_id, ?, iif(value ->> 'isHidden', NULL, items.number), value ->> 'seq', ?,
         iif(value ->> 'isHidden', NULL, ?), iif(value ->> 'isHidden', NULL, ?)
       FROM json_each(?) CROSS JOIN items ON items.id = value ->> 'itemId'`,
      ...[id, at, by, JSON.stringify(data), json],
    );
    const shown = taken.filter(({ isHidden }) => isHidden !== 1);
    this.#update(activity, JSON.stringify(shown.filter(({ isNew }) => !isNew).map(({ itemId }) => itemId)));
    this.#makeRoom(shown.filter(({ isNew }) => isNew));
    return shown;
  }

  /** For items that were there: their latest activities are kept. */
  #update({ seq, at }: InboxActivity, itemIds: string): void {
    this.#tables.write(
      `UPDATE items SET seq = max(seq, ifnull(?, seq + 1)),
         notified_at = max(iif(seq > deleted_seq, notified_at, 0), ?) WHERE id IN ${LISTED}`,
      ...[seq, at, itemIds],
    );
    this.#tables.write(
      `UPDATE activities SET item = NULL, created_by = NULL, data = NULL WHERE (identity_id, id) IN (
         SELECT identity_id, id FROM (
           SELECT identity_id, id, row_number() OVER (PARTITION BY item ORDER BY seq DESC, id DESC) AS place
           FROM activities WHERE item IN (SELECT number FROM items WHERE id IN ${LISTED}))
         WHERE place > ${MAX_ACTIVITIES})`,
      itemIds,
    );
  }

  #makeRoom(created: readonly Taken[]): void {
    const itemOf = new Map(created.map(({ identityId, itemId }) => [identityId, itemId]));
    const counted = this.#tables.read<{ id: string }>(
      `SELECT identity_id AS id FROM inboxes WHERE identity_id IN ${LISTED} AND seq % ? = 0`,
      ...[JSON.stringify([...itemOf.keys()]), this.#limits.countedEvery],
    );
    for (const { id } of counted)
      new InboxStore(this.#tables, id, this.#newId, this.#limits).makeRoom(itemOf.get(id) ?? "");
  }

  /** An item that waits already keeps its time. */
  #queue(
    { kind, roomId }: InboxActivity,
    items: readonly Taken[],
    defaults: NotificationDefaults,
    now: number,
  ): void {
    const identityIds = JSON.stringify(items.map(({ identityId }) => identityId));
    const own = this.#tables.read<{ id: string; settings: string }>(
      `SELECT identity_id AS id, settings FROM inboxes WHERE identity_id IN ${LISTED} AND settings IS NOT NULL`,
      identityIds,
    );
    const settings = new Map(own.map((row) => [row.id, JSON.parse(row.settings) as NotificationSettings]));
    const subscribed = this.#tables.read<{ id: string }>(
      `SELECT DISTINCT identity_id AS id FROM push_targets WHERE identity_id IN ${LISTED}`,
      identityIds,
    );
    const browsers = new Set(subscribed.map(({ id }) => id));
    const item = { kind, roomId: roomId ?? "" };
    for (const channel of CHANNELS) {
      const isSent = (id: string) =>
        channel === "email" || defaults.webPush.sender === "webhook" || browsers.has(id);
      const wanted = items.filter(
        ({ identityId: id }) =>
          isSent(id) && isWanted(channel, item, settings.get(id) ?? ALL_WANTED, defaults),
      );
      this.#tables.write(
        `INSERT OR IGNORE INTO waiting (identity_id, item, channel, due)
         SELECT identity_id, number, ?, ? FROM items WHERE id IN ${LISTED} AND seq > read_seq`,
        ...[
          channel,
          now + defaults[channel].delay * 1000,
          JSON.stringify(wanted.map(({ itemId }) => itemId)),
        ],
      );
    }
  }
}
