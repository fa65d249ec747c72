/** Delivers activities to inboxes of a shard, all at once: a statement for each inbox would take ten times as long. */

import type { InboxActivity } from "@atrium/contract/resources/inbox.ts";
import {
  ALL_WANTED,
  CHANNELS,
  type Channel,
  isWanted,
  type NotificationDefaults,
  parseSettings,
} from "@atrium/contract/resources/notification-settings.ts";
import { InboxChanges, isCounted, LIMITS } from "./change-store.ts";
import { InboxStore } from "./inbox-store.ts";
import { FIRST_SEQ, type InboxTables, KEPT_MS, unwantedBy } from "./inbox-tables.ts";
import type { ChangedItem, InboxItem } from "./present.ts";
import { InboxRemovals } from "./removal-store.ts";

interface Delivery {
  readonly identityIds: readonly string[];
  readonly activities: readonly InboxActivity[];
  readonly defaults: NotificationDefaults;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** An inbox that does not know the activity yet, or at a lower seq only and not as a mention, and its item of the subject. */
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
  /** The channels that are to carry it. */
  readonly wanted: readonly Channel[];
  /** As in the column of its item. */
  readonly unwanted: number;
}

/** The channels that are to carry an item to an identity, and those that could, but are not to. */
type Wishes = (
  identityId: string,
  item: Pick<InboxItem, "kind" | "roomId">,
) => { readonly wanted: readonly Channel[]; readonly unwanted: readonly Channel[] };

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
      this.#tables.write(
        `INSERT OR IGNORE INTO inboxes (identity_id, seq) SELECT value, ${FIRST_SEQ} FROM json_each(?)`,
        ids,
      );
      const wishes = this.#readWishes(ids, defaults);
      const changed = new Map<string, Map<string, ChangedItem>>();
      const removals = new InboxRemovals(this.#tables);
      const recent = activities.filter(({ at }) => at > now - KEPT_MS);
      for (const activity of recent.filter((each) => !removals.has(each))) {
        const shown = this.#take(activity, ids, wishes);
        this.#queue(shown, defaults, now);
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
  #take(activity: InboxActivity, identityIds: string, wishes: Wishes): Taken[] {
    const { id, at, by, data, kind, subjectId, seq, mentioned = [] } = activity;
    const roomId = activity.roomId ?? "";
    const subject = [roomId, kind, subjectId];
    const found = this.#tables.read<Found>(
      `SELECT identityId, itemId, seq, seq <= deletedSeq AS isHidden FROM (
         SELECT inboxes.identity_id AS identityId, items.id AS itemId, items.deleted_seq AS deletedSeq,
           ifnull(?1, ifnull(items.seq, 0) + 1) AS seq
         FROM json_each(?2) AS asked
         CROSS JOIN inboxes ON inboxes.identity_id = asked.value AND inboxes.removed_at IS NULL
         LEFT JOIN items ON items.identity_id = inboxes.identity_id
           AND items.room_id = ?3 AND items.kind = ?4 AND items.subject_id = ?5
         LEFT JOIN activities AS known ON known.identity_id = inboxes.identity_id AND known.id = ?6
         WHERE known.id IS NULL OR (known.seq < ifnull(?1, 0) AND NOT known.is_mention))`,
      ...[seq, identityIds, ...subject, id],
    );
    const taken = found.map((each): Taken => {
      const { wanted, unwanted } = wishes(each.identityId, { kind, roomId });
      return {
        ...each,
        ...{ itemId: each.itemId ?? this.#newId(), isNew: each.itemId === null },
        ...{ wanted, unwanted: unwantedBy(unwanted) },
      };
    });
    const json = JSON.stringify(taken);
    this.#tables.write(
      `INSERT INTO items (id, identity_id, room_id, kind, subject_id, seq, read_seq, deleted_seq, notified_at, unwanted)
       SELECT value ->> 'itemId', value ->> 'identityId', ?, ?, ?, value ->> 'seq', 0, 0, ?, value ->> 'unwanted'
       FROM json_each(?) WHERE value ->> 'isNew'`,
      ...[...subject, at, json],
    );
    this.#tables.write(
      `INSERT OR REPLACE INTO activities (identity_id, id, item, seq, at, created_by, data, is_mention)
       SELECT items.identity_id, ?, iif(value ->> 'isHidden', NULL, items.number), value ->> 'seq', ?,
         iif(value ->> 'isHidden', NULL, ?), iif(value ->> 'isHidden', NULL, ?), items.identity_id IN ${LISTED}
       FROM json_each(?) CROSS JOIN items ON items.id = value ->> 'itemId'`,
      ...[id, at, by, JSON.stringify(data), JSON.stringify(mentioned), json],
    );
    // A subscriber has it already when the mentioned group is reached.
    this.#tables.write(
      `UPDATE activities SET is_mention = 1 WHERE identity_id IN ${LISTED} AND id = ? AND NOT is_mention`,
      ...[JSON.stringify(mentioned), id],
    );
    const shown = taken.filter(({ isHidden }) => isHidden !== 1);
    this.#update(
      activity,
      shown.filter(({ isNew }) => !isNew),
    );
    this.#makeRoom(shown.filter(({ isNew }) => isNew));
    return shown;
  }

  /** For items that were there: their latest activities are kept. */
  #update({ seq, at }: InboxActivity, items: readonly Taken[]): void {
    this.#tables.write(
      `UPDATE items SET seq = max(seq, ifnull(?, seq + 1)), unwanted = given.value ->> 'unwanted',
         notified_at = max(iif(seq > deleted_seq, notified_at, 0), ?)
       FROM json_each(?) AS given WHERE items.id = given.value ->> 'itemId'`,
      ...[seq, at, JSON.stringify(items)],
    );
    const itemIds = JSON.stringify(items.map(({ itemId }) => itemId));
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
    for (const { identityId, itemId } of created)
      if (isCounted(itemId, this.#limits)) this.#changesOf(identityId).makeRoom(itemId);
  }

  #changesOf(identityId: string): InboxChanges {
    return new InboxChanges(new InboxStore(this.#tables, identityId), this.#newId, this.#limits);
  }

  /** An item that waits already keeps its time. */
  #queue(items: readonly Taken[], defaults: NotificationDefaults, now: number): void {
    for (const channel of CHANNELS) {
      const wanted = items.filter((item) => item.wanted.includes(channel));
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

  #readWishes(identityIds: string, defaults: NotificationDefaults): Wishes {
    const changed = this.#tables.read<{ id: string; settings: string }>(
      `SELECT identity_id AS id, settings FROM inboxes WHERE identity_id IN ${LISTED} AND settings IS NOT NULL`,
      identityIds,
    );
    const settings = new Map(changed.map((row) => [row.id, parseSettings(row.settings)]));
    const subscribed = this.#tables.read<{ id: string }>(
      `SELECT DISTINCT identity_id AS id FROM push_targets WHERE identity_id IN ${LISTED}`,
      identityIds,
    );
    const browsers = new Set(subscribed.map(({ id }) => id));
    return (identityId, item) => {
      // A channel that is off for everyone, or has no browser, is none: each notification would say so.
      const channels = CHANNELS.filter((channel) => {
        const { sender } = defaults[channel];
        return sender !== "none" && (channel === "email" || sender === "webhook" || browsers.has(identityId));
      });
      const own = settings.get(identityId) ?? ALL_WANTED;
      const isIn = (channel: Channel) => isWanted(channel, item, own, defaults);
      return { wanted: channels.filter(isIn), unwanted: channels.filter((channel) => !isIn(channel)) };
    };
  }
}
