/** Delivers activities to inboxes of a shard, all at once: a statement for each inbox would take ten times as long. */

import type { InboxActivity } from "@atrium/contract/resources/inbox.ts";
import {
  ALL_WANTED,
  CHANNELS,
  type Channel,
  isWanted,
  type NotificationDefaults,
  type NotificationSettings,
  parseSettings,
} from "@atrium/contract/resources/notification-settings.ts";
import { ActivityStore, type ForgottenActivity, type ItemActivities, merged } from "./activity-store.ts";
import { InboxChanges, isCounted, LIMITS } from "./change-store.ts";
import { InboxStore } from "./inbox-store.ts";
import {
  DUE_COLUMNS,
  type DueTimes,
  earliest,
  FIRST_SEQ,
  type InboxTables,
  KEPT_MS,
  numberOf,
  unwantedBy,
} from "./inbox-tables.ts";
import type { ChangedItem, StoredActivity } from "./present.ts";
import { InboxRemovals } from "./removal-store.ts";

interface Delivery {
  readonly identityIds: readonly string[];
  readonly activities: readonly InboxActivity[];
  readonly defaults: NotificationDefaults;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** An inbox before the delivery. */
interface Inbox {
  readonly identityId: string;
  readonly settings: NotificationSettings;
  readonly hasBrowser: boolean;
  /** Epoch milliseconds; null while nothing waits. */
  readonly due: number | null;
}

/** An inbox's item of the subject; without one, its positions are 0. */
interface Found extends ItemActivities, DueTimes {
  readonly identityId: string;
  /** Null without an item. */
  readonly itemId: string | null;
  readonly readSeq: number;
  readonly notifiedAt: number;
}

/** An item that shows the activity, as it is written. */
interface Taken extends DueTimes {
  readonly identityId: string;
  readonly itemId: string;
  readonly number: number;
  readonly isNew: boolean;
  readonly seq: number;
  readonly notifiedAt: number;
  readonly unwanted: number;
  readonly activities: readonly StoredActivity[];
}

interface Change extends ChangedItem {
  /** When the first of its channels is due (epoch ms); null while it does not wait. */
  readonly due: number | null;
}

const GIVEN = "FROM json_each(?) AS given WHERE number = given.value ->> 'number'";

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
  deliver(delivery: Delivery): ReadonlyMap<string, ReadonlyMap<string, ChangedItem>> {
    return this.#tables.transaction(() => {
      this.#tables.create();
      const inboxes = this.#readInboxes(delivery.identityIds);
      const changed = new Map<string, Map<string, Change>>();
      const removals = new InboxRemovals(this.#tables);
      const recent = delivery.activities.filter(({ at }) => at > delivery.now - KEPT_MS);
      for (const activity of recent.filter((each) => !removals.has(each)))
        for (const { identityId, itemId: id, email, webPush } of this.#take(activity, inboxes, delivery)) {
          const items = changed.get(identityId) ?? new Map<string, Change>();
          const due = earliest([email, webPush]);
          changed.set(identityId, items.set(id, { id, roomId: activity.roomId ?? "", due }));
        }
      this.#count(changed, inboxes);
      return changed;
    });
  }

  /** The inboxes of identities that were not deleted, also inboxes that have yet to be made. */
  #readInboxes(identityIds: readonly string[]): ReadonlyMap<string, Inbox> {
    const rows = this.#tables.read<{
      identityId: string;
      settings: string | null;
      due: number | null;
      hasBrowser: number;
    }>(
      `SELECT asked.value AS identityId, settings, due,
         EXISTS (SELECT 1 FROM push_targets WHERE push_targets.identity_id = asked.value) AS hasBrowser
       FROM json_each(?) AS asked LEFT JOIN inboxes ON inboxes.identity_id = asked.value
       WHERE removed_at IS NULL`,
      JSON.stringify([...new Set(identityIds)]),
    );
    const inboxes = rows.map(({ settings, hasBrowser, ...row }): Inbox => {
      const own = settings === null ? ALL_WANTED : parseSettings(settings);
      return { ...row, settings: own, hasBrowser: hasBrowser === 1 };
    });
    return new Map(inboxes.map((inbox) => [inbox.identityId, inbox]));
  }

  /** Counts the change of each inbox, which is made if it is missing. Only an earlier time is written: it has an index. */
  #count(
    changed: ReadonlyMap<string, ReadonlyMap<string, Change>>,
    inboxes: ReadonlyMap<string, Inbox>,
  ): void {
    const rows = Array.from(changed, ([id, items]) => {
      const due = earliest(Array.from(items.values(), (item) => item.due));
      const planned = inboxes.get(id)?.due ?? null;
      return { id, due, isEarlier: due !== null && (planned === null || due < planned) };
    });
    for (const isEarlier of [true, false])
      this.#writeAll(
        `INSERT INTO inboxes (identity_id, seq, due) SELECT value ->> 'id', ${FIRST_SEQ} + 1, value ->> 'due'
         FROM json_each(?) WHERE true
         ON CONFLICT DO UPDATE SET seq = seq + 1 ${isEarlier ? ", due = excluded.due" : ""}`,
        rows.filter((row) => row.isEarlier === isEarlier),
      );
  }

  /** Writes rows, which the statement takes as JSON before `params`. */
  #writeAll(query: string, rows: readonly unknown[], ...params: SqlStorageValue[]): void {
    if (rows.length > 0) this.#tables.write(query, JSON.stringify(rows), ...params);
  }

  /** Returns the items that show the activity. */
  #take(activity: InboxActivity, inboxes: ReadonlyMap<string, Inbox>, delivery: Delivery): readonly Taken[] {
    const mentioned = new Set(activity.mentioned);
    const taken: Taken[] = [];
    const noted: Pick<Taken, "number" | "activities">[] = [];
    const forgotten: ForgottenActivity[] = [];
    const remembered: string[] = [];
    for (const item of this.#find(activity, inboxes.keys())) {
      const { identityId } = item;
      const change = merged(activity, item, mentioned.has(identityId));
      forgotten.push(...change.forgotten.map((each) => ({ ...each, identityId })));
      if (change.isTaken) {
        if (item.forgotten !== null) remembered.push(identityId);
        const inbox = inboxes.get(identityId);
        if (inbox !== undefined) taken.push(this.#taken(activity, item, change.shown, inbox, delivery));
      } else if (change.shown.length > 0)
        noted.push({ number: numberOf(item.itemId ?? ""), activities: change.shown });
    }
    this.#writeAll(
      "DELETE FROM forgotten WHERE identity_id IN (SELECT value FROM json_each(?)) AND id = ?",
      ...[remembered, activity.id],
    );
    new ActivityStore(this.#tables).forget(forgotten);
    this.#writeAll(`UPDATE items SET activities = given.value ->> 'activities' ${GIVEN}`, noted);
    this.#writeItems(activity, taken);
    return taken;
  }

  #find({ id, roomId, kind, subjectId }: InboxActivity, identityIds: Iterable<string>): Found[] {
    return this.#tables.read<Found>(
      `SELECT asked.value AS identityId, items.id AS itemId, ifnull(items.seq, 0) AS seq,
         ifnull(read_seq, 0) AS readSeq, ifnull(deleted_seq, 0) AS deletedSeq,
         ifnull(notified_at, 0) AS notifiedAt, ${DUE_COLUMNS.email} AS email, ${DUE_COLUMNS.webPush} AS webPush,
         ifnull(activities, '[]') AS activities,
         iif(forgotten.id IS NULL, NULL, json_object('id', forgotten.id, 'seq', forgotten.seq, 'at', at,
           'isMention', json(iif(is_mention, 'true', 'false')))) AS forgotten
       FROM json_each(?) AS asked
       LEFT JOIN items
         ON room_id = ? AND kind = ? AND subject_id = ? AND items.identity_id = asked.value
       LEFT JOIN forgotten ON forgotten.identity_id = asked.value AND forgotten.id = ?`,
      ...[JSON.stringify([...identityIds]), roomId ?? "", kind, subjectId, id],
    );
  }

  #taken(
    { kind, roomId, at }: InboxActivity,
    { identityId, itemId, readSeq, deletedSeq, notifiedAt, ...item }: Found,
    activities: readonly StoredActivity[],
    inbox: Inbox,
    { defaults, now }: Delivery,
  ): Taken {
    const id = itemId ?? this.#newId();
    const seq = Math.max(item.seq, activities[0]?.seq ?? 0);
    // A channel that is off for everyone, or has no browser, is none: each notification would say so.
    const channels = CHANNELS.filter((channel) => {
      const { sender } = defaults[channel];
      return sender !== "none" && (channel === "email" || sender === "webhook" || inbox.hasBrowser);
    });
    const subject = { kind, roomId: roomId ?? "" };
    const unwanted = channels.filter((channel) => !isWanted(channel, subject, inbox.settings, defaults));
    // An item that waits already keeps its time.
    const dueBy = (channel: Channel): number | null => {
      if (seq <= readSeq) return null;
      const isCarried = channels.includes(channel) && !unwanted.includes(channel);
      const due = isCarried ? now + defaults[channel].delay * 1000 : null;
      return (item.seq > readSeq ? item[channel] : null) ?? due;
    };
    return {
      ...{ identityId, itemId: id, number: numberOf(id), isNew: itemId === null, seq, activities },
      ...{ notifiedAt: Math.max(item.seq > deletedSeq ? notifiedAt : 0, at), unwanted: unwantedBy(unwanted) },
      ...{ email: dueBy("email"), webPush: dueBy("webPush") },
    };
  }

  #writeItems({ roomId, kind, subjectId }: InboxActivity, items: readonly Taken[]): void {
    const created = items.filter(({ isNew }) => isNew);
    this.#writeAll(
      `INSERT INTO items (number, id, identity_id, seq, read_seq, deleted_seq, notified_at, unwanted,
         ${DUE_COLUMNS.email}, ${DUE_COLUMNS.webPush}, activities, room_id, kind, subject_id)
       SELECT value ->> 'number', value ->> 'itemId', value ->> 'identityId', value ->> 'seq', 0, 0,
         value ->> 'notifiedAt', value ->> 'unwanted', value ->> 'email', value ->> 'webPush',
         value ->> 'activities', ?2, ?3, ?4 FROM json_each(?1)`,
      ...[created, roomId ?? "", kind, subjectId],
    );
    this.#writeAll(
      `UPDATE items SET seq = given.value ->> 'seq', notified_at = given.value ->> 'notifiedAt',
         unwanted = given.value ->> 'unwanted', ${DUE_COLUMNS.email} = given.value ->> 'email',
         ${DUE_COLUMNS.webPush} = given.value ->> 'webPush', activities = given.value ->> 'activities' ${GIVEN}`,
      items.filter(({ isNew }) => !isNew),
    );
    for (const { identityId, itemId } of created)
      if (isCounted(itemId, this.#limits)) this.#changesOf(identityId).makeRoom(itemId);
  }

  #changesOf(identityId: string): InboxChanges {
    return new InboxChanges(new InboxStore(this.#tables, identityId), this.#newId, this.#limits);
  }
}
